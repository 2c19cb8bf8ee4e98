import { Dots } from "../shared/Dots";
import { words } from "../words/words";
import classes from "./TypingIndicator.module.css";

export function TypingIndicator() {
  return (
    <div className={classes.typing} role="status" aria-label={words("talk.typing")}>
      <Dots />
    </div>
  );
}
