import { Button } from "@mantine/core";
import { useState } from "react";
import { eraseEverything, exportEverything } from "../api/person";
import { ConfirmDialog } from "../shared/ConfirmDialog";
import { download } from "../shared/download";
import { Icon } from "../shared/Icon";
import { forgetDrafts } from "../state/drafts";
import { attempt } from "../state/notices";
import { emptyAllOutboxes } from "../state/outbox";
import { session } from "../state/session";
import { summaries } from "../state/summaries";
import { forgetAllTalks } from "../state/talks";
import { words } from "../words/words";
import classes from "./AboutYouView.module.css";

/** Everything as a file, or everything gone. */
export function YourData({ onErased }: { onErased: () => Promise<void> }) {
  const [asking, setAsking] = useState(false);
  const save = () =>
    attempt(async () => download("allears.json", await exportEverything()), words("about_you.exported"));
  const erase = () =>
    attempt(async () => {
      await eraseEverything();
      forgetAllTalks();
      forgetDrafts();
      emptyAllOutboxes();
      await Promise.all([summaries.load(), session.load(), onErased()]);
    }, words("about_you.erased"));
  return (
    <section className={classes.section}>
      <h2>{words("about_you.data")}</h2>
      <p className={classes.quiet}>{words("about_you.data_text")}</p>
      <div className={classes.actions}>
        <Button variant="default" leftSection={<Icon name="save" size={16} />} onClick={() => void save()}>
          {words("about_you.export")}
        </Button>
        <Button
          variant="light"
          color="clay"
          leftSection={<Icon name="erase" size={16} />}
          onClick={() => setAsking(true)}
        >
          {words("about_you.erase")}
        </Button>
      </div>
      <ConfirmDialog
        opened={asking}
        title={words("about_you.erase_title")}
        text={words("about_you.erase_text")}
        confirm={words("about_you.erase_confirm")}
        keep={words("about_you.erase_keep")}
        onConfirm={erase}
        onClose={() => setAsking(false)}
      />
    </section>
  );
}
