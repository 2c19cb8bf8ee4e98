import { CloseButton } from "@mantine/core";
import type { Talk } from "../state/talk";
import { words } from "../words/words";
import { WhyContent } from "./WhyContent";
import classes from "./WhyPanel.module.css";

export interface WhyProps {
  talk: Talk;
  turn: number;
  isLast: boolean;
  onChoose: (turn: number) => void;
  onClose: () => void;
}

/** The reasons, beside the conversation. */
export function WhyPanel(props: WhyProps) {
  return (
    <aside className={classes.panel} aria-label={words("why.panel")}>
      <header className={classes.head}>
        <h2>{words("why.title")}</h2>
        <CloseButton aria-label={words("why.close")} onClick={props.onClose} />
      </header>
      <div className={classes.body} tabIndex={0} role="region" aria-label={words("why.panel")}>
        <WhyContent {...props} />
      </div>
    </aside>
  );
}
