import { useMantineColorScheme } from "@mantine/core";
import { forgetToken, readToken } from "../api/token";
import { Icon, type IconName } from "../shared/Icon";
import { forgetDrafts } from "../state/drafts";
import { emptyAllOutboxes } from "../state/outbox";
import { words, type Key } from "../words/words";
import classes from "./SidebarFoot.module.css";

const SCHEMES = ["auto", "light", "dark"] as const;
const LOOK: Record<(typeof SCHEMES)[number], { icon: IconName; name: Key }> = {
  auto: { icon: "device", name: "nav.auto" },
  light: { icon: "sun", name: "nav.light" },
  dark: { icon: "moon", name: "nav.dark" },
};

export function SidebarFoot() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const next = SCHEMES[(SCHEMES.indexOf(colorScheme) + 1) % SCHEMES.length]!;
  const leave = () => {
    forgetToken();
    forgetDrafts();
    emptyAllOutboxes();
    window.location.replace(window.location.pathname); // whoever comes next finds nothing
  };
  return (
    <div className={classes.foot}>
      <button type="button" onClick={() => setColorScheme(next)}>
        <Icon name={LOOK[colorScheme].icon} />
        {words("nav.scheme", { now: words(LOOK[colorScheme].name) })}
      </button>
      {readToken() && (
        <button type="button" onClick={leave}>
          <Icon name="key" />
          {words("door.leave")}
        </button>
      )}
    </div>
  );
}
