import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { words } from "../words/words";
import classes from "./Dialog.module.css";

interface Props {
  opened: boolean;
  title: string;
  text: string;
  confirm: string;
  keep: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  onClosed?: () => void;
}

/** For what cannot be undone. */
export function ConfirmDialog({ opened, title, text, confirm, keep, onConfirm, onClose, onClosed }: Props) {
  const [busy, setBusy] = useState(false);
  const act = async () => {
    setBusy(true);
    await onConfirm().finally(() => setBusy(false));
    onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={onClosed}
      title={title}
      size="28rem"
      classNames={{ title: classes.title, content: classes.content, header: classes.header }}
      closeButtonProps={{ "aria-label": words("app.close") }}
    >
      <p className={classes.text}>{text}</p>
      <div className={classes.actions}>
        <Button variant="default" onClick={onClose} data-autofocus>
          {keep}
        </Button>
        <Button color="clay" loading={busy} onClick={() => void act()}>
          {confirm}
        </Button>
      </div>
    </Modal>
  );
}
