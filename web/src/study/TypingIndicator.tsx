import { Dots } from "../shared/Dots";
import { say } from "./words";
import classes from "./Lines.module.css";

export function TypingIndicator({ who }: { who: string }) {
  return (
    <span className={classes.typing} role="img" aria-label={say("typing", { who })}>
      <Dots />
    </span>
  );
}
