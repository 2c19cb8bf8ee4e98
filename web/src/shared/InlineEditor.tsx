import { Button } from "@mantine/core";
import { useState, type KeyboardEvent } from "react";
import { words } from "../words/words";
import classes from "./InlineEditor.module.css";

interface Props {
  label: string;
  value: string;
  longest: number;
  note?: string;
  save?: string;
  placeholder?: string;
  onSave: (text: string) => void | Promise<unknown>;
  onCancel: () => void;
}

/** A text that is edited where it stands. Enter saves, Escape leaves it as it was. */
export function InlineEditor({ label, value, longest, note, save, placeholder, onSave, onCancel }: Props) {
  const [text, setText] = useState(value);
  const fits = text.trim() !== "" && text.length <= longest;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onCancel();
    }
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      if (fits) void onSave(text.trim());
    }
  };
  return (
    <div className={classes.editor}>
      <textarea
        className={classes.box}
        aria-label={label}
        dir="auto"
        rows={1}
        value={text}
        placeholder={placeholder}
        maxLength={longest}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        ref={focusAtEnd}
      />
      <div className={classes.row}>
        {note && <span className={classes.note}>{note}</span>}
        <Button size="compact-sm" variant="subtle" color="gray" onClick={onCancel}>
          {words("app.cancel")}
        </Button>
        <Button size="compact-sm" disabled={!fits} onClick={() => void onSave(text.trim())}>
          {save ?? words("app.save")}
        </Button>
      </div>
    </div>
  );
}

const focused = new WeakSet<HTMLTextAreaElement>();

function focusAtEnd(box: HTMLTextAreaElement | null): void {
  if (!box || focused.has(box)) return;
  focused.add(box);
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
}
