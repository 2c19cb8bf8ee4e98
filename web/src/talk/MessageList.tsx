import { memo } from "react";
import type { Turn } from "../api/types";
import type { Talk } from "../state/talk";
import { useStore } from "../state/store";
import { OwnMessage } from "./OwnMessage";
import { ReplyMessage } from "./ReplyMessage";
import classes from "./Message.module.css";

interface Props {
  talk: Talk;
  turns: readonly Turn[];
  chosen: number | null;
  onWhy: (turn: number) => void;
}

/** All turns. Those out of sight cost no layout (`content-visibility`), and none is drawn again while somebody types. */
export const MessageList = memo(function MessageList({ talk, turns, chosen, onWhy }: Props) {
  const replaced = useStore(talk.store, (state) => state.pending?.replaces ?? null);
  const shown = replaced === null ? turns : turns.slice(0, replaced - 1);
  return (
    <ol className={classes.list}>
      {shown.map((turn, index) => {
        const number = index + 1;
        const isLast = number >= shown.length - 1;
        return turn.speaker === "seeker" ? (
          <OwnMessage key={number} talk={talk} text={turn.text} turn={number} isLast={isLast} />
        ) : (
          <ReplyMessage
            key={number}
            talk={talk}
            text={turn.text}
            turn={number}
            isLast={isLast}
            isChosen={number === chosen}
            onWhy={onWhy}
          />
        );
      })}
    </ol>
  );
});
