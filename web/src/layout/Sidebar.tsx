import { Button } from "@mantine/core";
import { ConversationList } from "./ConversationList";
import { PageLinks } from "./PageLinks";
import { SearchBox } from "./SearchBox";
import { SidebarFoot } from "./SidebarFoot";
import { closeSidebar } from "./sidebarState";
import { Icon } from "../shared/Icon";
import { goTo } from "../state/route";
import { words } from "../words/words";
import classes from "./Sidebar.module.css";

export function Sidebar() {
  const begin = () => {
    goTo({ view: "talk", id: null });
    closeSidebar();
    requestAnimationFrame(() => document.getElementById("composer")?.focus());
  };
  return (
    <nav className={classes.sidebar} aria-label={words("nav.label")}>
      <div className={classes.head}>
        <a className={classes.name} href="#/">
          <span className={classes.mark}>
            <Icon name="ear" size={20} />
          </span>
          {words("app.name")}
        </a>
        <Button fullWidth variant="light" leftSection={<Icon name="plus" size={16} />} onClick={begin}>
          {words("nav.new")}
        </Button>
        <SearchBox />
      </div>
      <ConversationList />
      <PageLinks />
      <SidebarFoot />
    </nav>
  );
}
