import { Button } from "@mantine/core";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { words } from "../words/words";
import { TypingIndicator } from "./TypingIndicator";
import classes from "./Message.module.css";

/** The message that is being answered, and as much of the answer as has been said. */
export function PendingExchange({ talk }: { talk: Talk }) {
  const pending = useStore(talk.store, (state) => state.pending);
  if (!pending) return null;
  const takeBack = () => void talk.stop();
  return (
    <div className={classes.list}>
      <div className={`${classes.own} ${classes.stacked} ${classes.arriving}`}>
        <span className={classes.who}>{words("talk.you")}</span>
        <p className={classes.bubble} dir="auto">
          {pending.text}
        </p>
        {pending.phase === "away" && (
          <div className={classes.state}>
            {words("talk.waiting_away")}
            <Button size="compact-xs" variant="subtle" color="clay" onClick={takeBack}>
              {words("talk.take_back")}
            </Button>
          </div>
        )}
        {pending.phase === "failed" && (
          <div className={classes.state} role="alert">
            {words("talk.failed_send")} {pending.problem}
            <Button size="compact-xs" variant="light" color="clay" onClick={() => void talk.retry()}>
              {words("talk.retry")}
            </Button>
            <Button size="compact-xs" variant="subtle" color="clay" onClick={takeBack}>
              {words("talk.take_back")}
            </Button>
          </div>
        )}
      </div>
      {pending.phase === "waiting" && <TypingIndicator />}
      {pending.phase === "speaking" && (
        <div className={classes.reply} aria-hidden="true">
          <p className={classes.words} dir="auto">
            {pending.shown}
          </p>
        </div>
      )}
    </div>
  );
}
