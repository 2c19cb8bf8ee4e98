import { Button, Modal, TextInput } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { session } from "../state/session";
import { useStore } from "../state/store";
import { words } from "../words/words";
import classes from "../shared/Dialog.module.css";

interface Props {
  opened: boolean;
  title: string;
  onSave: (title: string) => Promise<boolean>;
  onClose: () => void;
  onClosed?: () => void;
}

export function RenameDialog({ opened, onClose, onClosed, ...form }: Props) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={onClosed}
      title={words("list.rename_title")}
      size="28rem"
      classNames={{ title: classes.title, content: classes.content, header: classes.header }}
      closeButtonProps={{ "aria-label": words("app.close") }}
    >
      <RenameForm {...form} onClose={onClose} />
    </Modal>
  );
}

function RenameForm({ title, onSave, onClose }: Omit<Props, "opened" | "onClosed">) {
  const [text, setText] = useState(title);
  const longest = useStore(session, ({ about }) => about?.limits.title ?? 120);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (await onSave(text)) onClose();
  };
  return (
    <form onSubmit={(event) => void save(event)}>
      <TextInput
        label={words("list.rename_label")}
        description={words("list.rename_hint")}
        value={text}
        maxLength={longest}
        onChange={(event) => setText(event.currentTarget.value)}
        data-autofocus
      />
      <div className={classes.actions}>
        <Button variant="default" onClick={onClose}>
          {words("app.cancel")}
        </Button>
        <Button type="submit">{words("app.save")}</Button>
      </div>
    </form>
  );
}
