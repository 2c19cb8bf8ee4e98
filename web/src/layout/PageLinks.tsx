import { Icon, type IconName } from "../shared/Icon";
import { hashOf, useRoute, type Route } from "../state/route";
import { words, type Key } from "../words/words";
import { closeSidebar } from "./sidebarState";
import classes from "./PageLinks.module.css";

const LINKS: { route: Route; icon: IconName; name: Key }[] = [
  { route: { view: "about-you" }, icon: "person", name: "nav.about_you" },
  { route: { view: "listeners" }, icon: "people", name: "nav.listeners" },
  { route: { view: "compare" }, icon: "columns", name: "nav.compare" },
  { route: { view: "help" }, icon: "heart", name: "nav.help" },
];

export function PageLinks() {
  const here = useRoute();
  return (
    <ul className={classes.links} aria-label={words("nav.pages")}>
      {LINKS.map(({ route, icon, name }) => (
        <li key={route.view}>
          <a
            className={classes.link}
            href={hashOf(route)}
            aria-current={here.view === route.view ? "page" : undefined}
            onClick={closeSidebar}
          >
            <Icon name={icon} />
            {words(name)}
          </a>
        </li>
      ))}
    </ul>
  );
}
