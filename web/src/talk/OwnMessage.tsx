import { memo, useState } from "react";
import { Icon } from "../shared/Icon";
import { InlineEditor } from "../shared/InlineEditor";
import { attempt } from "../state/notices";
import { session } from "../state/session";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { words } from "../words/words";
import classes from "./Message.module.css";

interface Props {
  talk: Talk;
  text: string;
  turn: number;
  isLast: boolean;
}

export const OwnMessage = memo(function OwnMessage({ talk, text, turn, isLast }: Props) {
  const [editing, setEditing] = useState(false);
  const longest = useStore(session, ({ about }) => about?.limits.message ?? 8000);
  const send = (changed: string) => {
    setEditing(false);
    void talk.say(changed, { replaces: turn });
  };
  if (editing)
    return (
      <li className={`${classes.own} ${classes.editing}`} id={`turn-${turn}`}>
        <InlineEditor
          label={words("talk.edit_label")}
          value={text}
          longest={longest}
          note={isLast ? "" : words("talk.edit_note")}
          save={words("talk.edit_send")}
          onSave={send}
          onCancel={() => setEditing(false)}
        />
      </li>
    );
  return (
    <li className={classes.own} id={`turn-${turn}`} data-last={isLast}>
      <span className={classes.who}>{words("talk.you")}</span>
      <p className={classes.bubble} dir="auto">
        {text}
      </p>
      <div className={classes.actions}>
        <button type="button" aria-label={words("talk.edit_label")} onClick={() => setEditing(true)}>
          <Icon name="edit" size={14} />
          <span>{words("talk.edit")}</span>
        </button>
        {isLast && (
          <button
            type="button"
            aria-label={words("talk.undo_label")}
            onClick={() => void attempt(() => talk.undo(), words("talk.undone"))}
          >
            <Icon name="undo" size={14} />
            <span>{words("talk.undo")}</span>
          </button>
        )}
      </div>
    </li>
  );
});
