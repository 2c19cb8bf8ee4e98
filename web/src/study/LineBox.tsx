import { ActionIcon } from "@mantine/core";
import { useId, type KeyboardEvent } from "react";
import { Icon } from "../shared/Icon";
import { say } from "./words";
import classes from "./Lines.module.css";

const LONGEST = 2000; // characters; as much as the server takes at once

interface Props {
  label: string;
  send: string;
  text: string;
  onChange: (text: string) => void;
  onSend: (text: string) => void;
  /** Nothing can be said here any more, or not now. */
  disabled: boolean;
  /** A line is on its way. */
  sending: boolean;
  /** It is not this person's turn; they may write already. */
  waiting?: boolean;
}

/** Where a line is written. Enter sends it, Shift-Enter makes a new line. */
export function LineBox({ label, send, text, onChange, onSend, disabled, sending, waiting = false }: Props) {
  const id = useId();
  const tooLong = text.length > LONGEST;
  const canSend = !disabled && !sending && !waiting && text.trim() !== "" && !tooLong;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (canSend) onSend(text.trim());
  };
  return (
    <div className={classes.composer} data-disabled={disabled}>
      <textarea
        className={classes.box}
        aria-label={label}
        aria-invalid={tooLong || undefined}
        aria-describedby={tooLong ? id : undefined}
        placeholder={disabled ? "" : say("write")}
        dir="auto"
        rows={1}
        value={text}
        readOnly={sending}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <ActionIcon
        variant="filled"
        color="sage"
        radius="xl"
        size={38}
        aria-label={send}
        disabled={!canSend}
        onClick={() => onSend(text.trim())}
        className={classes.send}
      >
        <Icon name="send" />
      </ActionIcon>
      {tooLong && (
        <p id={id} className={classes.over}>
          {say("chars_over", { most: LONGEST })}
        </p>
      )}
    </div>
  );
}
