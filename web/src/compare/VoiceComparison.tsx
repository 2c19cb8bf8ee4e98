import { Button, NativeSelect, Textarea } from "@mantine/core";
import { useState } from "react";
import { compare } from "../api/person";
import type { About, Answer } from "../api/types";
import { titleOf } from "../layout/grouping";
import { Icon } from "../shared/Icon";
import { attempt } from "../state/notices";
import { useStore } from "../state/store";
import { summaries } from "../state/summaries";
import { words } from "../words/words";
import { columnOf, firstColumns, type Asked } from "./columns";
import { VoiceColumn } from "./VoiceColumn";
import classes from "./Compare.module.css";

export function VoiceComparison({ about }: { about: About }) {
  const found = useStore(summaries, (all) => all.found);
  const [conversation, setConversation] = useState("");
  const [message, setMessage] = useState("");
  const [columns, setColumns] = useState<Asked[]>(() => firstColumns(about));
  const [answers, setAnswers] = useState<Record<number, Answer>>({});
  const [busy, setBusy] = useState<ReadonlySet<number>>(new Set());
  const spoken = found.filter(({ turns }) => turns > 0);
  const canAsk = (message.trim() !== "" || conversation !== "") && message.length <= about.limits.message;

  const ask = async (asked: Asked[]) => {
    if (!canAsk) return;
    setBusy(new Set(asked.map(({ id }) => id)));
    await attempt(async () => {
      const text = message.trim() || null;
      const found = await compare({ text, conversation: conversation || null, columns: asked.map(columnOf) });
      const fresh = Object.fromEntries(asked.map(({ id }, index) => [id, found.columns[index]!]));
      setAnswers((known) => ({ ...known, ...fresh }));
    });
    setBusy(new Set());
  };
  const change = (changed: Asked, again: boolean) => {
    setColumns(columns.map((column) => (column.id === changed.id ? changed : column)));
    if (again && answers[changed.id]) void ask([changed]);
  };
  const add = () => {
    const id = Math.max(0, ...columns.map((column) => column.id)) + 1;
    setColumns([...columns, { ...firstColumns(about)[0]!, id }]);
  };
  return (
    <>
      <form
        className={classes.question}
        onSubmit={(event) => {
          event.preventDefault();
          void ask(columns);
        }}
      >
        <NativeSelect
          label={words("compare.where")}
          value={conversation}
          data={[
            { value: "", label: words("compare.alone") },
            ...spoken.map((summary) => ({ value: summary.id, label: titleOf(summary).slice(0, 80) })),
          ]}
          onChange={(event) => setConversation(event.currentTarget.value)}
        />
        <Textarea
          label={words(conversation ? "compare.message_in" : "compare.message")}
          rows={2}
          dir="auto"
          value={message}
          maxLength={about.limits.message}
          onChange={(event) => setMessage(event.currentTarget.value)}
        />
        <div className={classes.actions}>
          <Button type="submit" loading={busy.size > 0} disabled={!canAsk}>
            {words("compare.ask")}
          </Button>
          {columns.length < about.limits.columns && (
            <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={add}>
              {words("compare.add")}
            </Button>
          )}
        </div>
        {!canAsk && <p className={classes.hint}>{words("compare.need_text")}</p>}
      </form>
      <div className={classes.columns} data-count={columns.length}>
        {columns.map((column, index) => (
          <VoiceColumn
            key={column.id}
            about={about}
            column={column}
            number={index + 1}
            answer={answers[column.id] ?? null}
            busy={busy.has(column.id)}
            onChange={change}
            onRemove={
              columns.length > 1 ? () => setColumns(columns.filter(({ id }) => id !== column.id)) : undefined
            }
          />
        ))}
      </div>
    </>
  );
}
