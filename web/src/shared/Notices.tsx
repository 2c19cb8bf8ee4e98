import { CloseButton } from "@mantine/core";
import { notices } from "../state/notices";
import { useStore } from "../state/store";
import { words } from "../words/words";
import classes from "./Notices.module.css";

/** Short words from the page itself, read out to those who listen to it. */
export function Notices() {
  const shown = useStore(notices, (all) => all);
  return (
    <div className={classes.place} role="status" aria-live="polite" aria-label={words("app.notices")}>
      {shown.map((notice) => (
        <div key={notice.id} className={classes.notice} data-kind={notice.kind}>
          <span>{notice.text}</span>
          <CloseButton size="sm" aria-label={words("app.close")} onClick={() => notices.close(notice.id)} />
        </div>
      ))}
    </div>
  );
}
