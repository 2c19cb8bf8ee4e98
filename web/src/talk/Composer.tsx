import { ActionIcon } from "@mantine/core";
import { useCallback, useEffect, useRef, useState, type ClipboardEvent, type KeyboardEvent } from "react";
import { Icon } from "../shared/Icon";
import { keepDraft, readDraft } from "../state/drafts";
import { notices } from "../state/notices";
import { session } from "../state/session";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { words } from "../words/words";
import { lengthNote } from "./lengthNote";
import classes from "./Composer.module.css";

/** Where somebody writes. It draws nothing but itself while they type, however long the conversation is. */
export function Composer({ talk }: { talk: Talk }) {
  const [text, setText] = useState(() => readDraft(talk.draftName));
  const box = useRef<HTMLTextAreaElement>(null);
  const isTalking = useStore(talk.store, (state) => state.pending !== null);
  const returned = useStore(talk.store, (state) => state.returned);
  const longest = useStore(session, ({ about }) => about?.limits.message ?? 8000);
  const change = useCallback(
    (written: string) => {
      setText(written);
      keepDraft(talk.draftName, written);
    },
    [talk],
  );
  useEffect(() => {
    if (!returned.times) return;
    setText(returned.text);
    box.current?.focus();
  }, [returned]);

  const canSend = !isTalking && text.trim() !== "" && text.length <= longest;
  const send = () => {
    if (!canSend) return;
    change("");
    void talk.say(text.trim());
  };
  const stop = () => {
    void talk.stop();
    notices.say(words("composer.stopped"));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      send();
    }
    if (event.key === "Escape" && isTalking) stop();
  };
  const onPaste = (event: ClipboardEvent) => {
    const size = event.clipboardData.getData("text").length;
    if (size <= longest) return;
    event.preventDefault(); // a megabyte in the box would only make it slow
    notices.say(words("composer.too_large", { size, longest }), "problem");
  };
  const note = lengthNote(text.length, longest);
  return (
    <div className={classes.composer}>
      <textarea
        id="composer"
        ref={box}
        className={classes.box}
        aria-label={words("composer.label")}
        aria-describedby={note ? "composer-note" : undefined}
        aria-invalid={text.length > longest || undefined}
        placeholder={words("composer.placeholder")}
        dir="auto"
        rows={1}
        value={text}
        onChange={(event) => change(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
        autoFocus
      />
      {isTalking ? (
        <ActionIcon className={classes.button} variant="default" radius="xl" size={42} aria-label={words("composer.stop")} onClick={stop}>
          <Icon name="stop" />
        </ActionIcon>
      ) : (
        <ActionIcon
          className={classes.button}
          variant="filled"
          color="sage"
          radius="xl"
          size={42}
          aria-label={words("composer.send")}
          disabled={!canSend}
          onClick={send}
        >
          <Icon name="send" />
        </ActionIcon>
      )}
      {note && (
        <p className={classes.note} id="composer-note" role="status" data-over={text.length > longest}>
          {note}
        </p>
      )}
    </div>
  );
}
