import { Modal, Skeleton } from "@mantine/core";
import { useEffect, useState } from "react";
import type { Help } from "../api/types";
import dialog from "../shared/Dialog.module.css";
import { words } from "../words/words";
import type { StudyClient } from "./client";
import { readHelp } from "./help";
import { People } from "./People";
import { say } from "./words";

interface Props {
  opened: boolean;
  client: StudyClient;
  onClose: () => void;
}

export function HelpDialog({ opened, client, onClose }: Props) {
  const [help, setHelp] = useState<Help | null>(null);
  useEffect(() => {
    if (opened && !help) void readHelp(client, null).then(setHelp);
  }, [opened, help, client]);
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={say("help_title")}
      size="34rem"
      classNames={{ title: dialog.title, content: dialog.content, header: dialog.header }}
      closeButtonProps={{ "aria-label": words("app.close") }}
    >
      {help ? <People help={help} client={client} /> : <Skeleton height={200} radius="lg" />}
    </Modal>
  );
}
