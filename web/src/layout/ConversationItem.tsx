import { ActionIcon, Menu } from "@mantine/core";
import { useRef, useState } from "react";
import { changeConversation, eraseConversation, exportConversation } from "../api/conversations";
import type { Summary } from "../api/types";
import { ConfirmDialog } from "../shared/ConfirmDialog";
import { download, fileName } from "../shared/download";
import { Icon } from "../shared/Icon";
import { keepDraft } from "../state/drafts";
import { attempt } from "../state/notices";
import { emptyOutbox } from "../state/outbox";
import { goTo, hashOf } from "../state/route";
import { summaries } from "../state/summaries";
import { forgetTalk, talkFor } from "../state/talks";
import { words } from "../words/words";
import { closeSidebar } from "./sidebarState";
import { titleOf } from "./grouping";
import { RenameDialog } from "./RenameDialog";
import classes from "./ConversationItem.module.css";

export function ConversationItem({ summary, open }: { summary: Summary; open: boolean }) {
  const [dialog, setDialog] = useState<"" | "rename" | "erase">("");
  const more = useRef<HTMLButtonElement>(null); // where the focus goes back to: the menu's items are gone by then
  const title = titleOf(summary);
  const save = (format: "markdown" | "json") =>
    attempt(async () => {
      const ending = format === "markdown" ? "md" : "json";
      download(fileName(title, ending), await exportConversation(summary.id, format));
    }, words("list.saved"));
  const erase = () =>
    attempt(async () => {
      await eraseConversation(summary.id);
      forgetTalk(summary.id);
      keepDraft(summary.id, "");
      emptyOutbox(summary.id);
      if (open) goTo({ view: "talk", id: null });
      await summaries.load();
    }, words("list.erased"));
  const rename = (text: string) =>
    attempt(async () => {
      const changed = { title: text.trim() || null };
      if (open) await talkFor(summary.id).choose(changed);
      else await changeConversation(summary.id, changed);
      await summaries.load();
    }, words("list.renamed"));
  return (
    <li className={classes.item} data-open={open}>
      <a
        className={classes.link}
        href={hashOf({ view: "talk", id: summary.id })}
        aria-current={open ? "page" : undefined}
        onClick={closeSidebar}
        dir="auto"
      >
        <span className={classes.title}>{title}</span>
        {summary.match && <span className={classes.match}>{summary.match}</span>}
      </a>
      <Menu position="bottom-end" width={230}>
        <Menu.Target>
          <ActionIcon ref={more} className={classes.more} size={30} aria-label={words("list.menu", { title })}>
            <Icon name="more" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="edit" size={16} />} onClick={() => setDialog("rename")}>
            {words("list.rename")}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="save" size={16} />} onClick={() => void save("markdown")}>
            {words("list.export_markdown")}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="save" size={16} />} onClick={() => void save("json")}>
            {words("list.export_json")}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item className={classes.erase} leftSection={<Icon name="erase" size={16} />} onClick={() => setDialog("erase")}>
            {words("list.erase")}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <RenameDialog
        opened={dialog === "rename"}
        title={summary.title ?? ""}
        onSave={rename}
        onClose={() => setDialog("")}
        onClosed={() => more.current?.focus()}
      />
      <ConfirmDialog
        opened={dialog === "erase"}
        title={words("list.erase_title")}
        text={words("list.erase_text", { title })}
        confirm={words("list.erase_confirm")}
        keep={words("list.erase_keep")}
        onConfirm={erase}
        onClose={() => setDialog("")}
        onClosed={() => more.current?.focus()}
      />
    </li>
  );
}
