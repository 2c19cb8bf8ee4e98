import { Button } from "@mantine/core";
import { useEffect, useState, type FormEvent } from "react";
import { useStore } from "../state/store";
import { answersToSend, chatOf, linesMissing, unanswered } from "./answering";
import { BlockView } from "./blocks/BlockView";
import { Heading } from "./Heading";
import { keepDraft, readDraft } from "./kept";
import type { Chats, Line, Progress, Side, Unit } from "./types";
import type { Visit } from "./visit";
import { Wrong } from "./Wrong";
import { say } from "./words";
import classes from "./Study.module.css";

interface Props {
  visit: Visit;
  unit: Unit;
  progress: Progress;
}

/** What one person judges at once. Answers stay in this browser until the server has them. */
export function UnitPage({ visit, unit, progress }: Props) {
  const busy = useStore(visit, (state) => state.busy);
  const [draft, setDraft] = useState(() => readDraft(unit.key));
  const [chats, setChats] = useState<Chats>({});
  const [mayBeSent, setMayBeSent] = useState(false);
  useEffect(() => keepDraft(draft), [draft]);
  useEffect(() => setChats(chatOf(unit)?.chats ?? {}), [unit]); // brought up to date: the server's word counts
  useEffect(() => {
    const left = draft.shown + unit.least_seconds * 1000 - Date.now();
    const timer = setTimeout(() => setMayBeSent(true), Math.max(0, left));
    return () => clearTimeout(timer);
  }, [unit.key, unit.least_seconds, draft.shown]);

  const open = unanswered(unit, draft.answers).length;
  const lines = linesMissing(unit, chats);
  const ready = mayBeSent && open === 0 && lines === 0;
  const change = (key: string, value: string | number) =>
    setDraft((now) => ({ ...now, answers: { ...now.answers, [key]: value } }));
  const onChat = (side: Side, turns: Line[]) => setChats((now) => ({ ...now, [side]: turns }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready && !busy) void visit.answer(unit.key, answersToSend(unit, draft.answers));
  };
  const n = progress.done + 1;
  return (
    <form className={classes.page} data-wide={(chatOf(unit)?.sides.length ?? 0) > 1} onSubmit={submit}>
      <Heading small text={progress.of === null ? say("task", { n }) : say("task_of", { n, of: progress.of })} />
      {unit.blocks.map((block, place) => (
        <BlockView
          key={place}
          visit={visit}
          unit={unit}
          block={block}
          answers={draft.answers}
          chats={chats}
          onChange={change}
          onChat={onChat}
        />
      ))}
      <Wrong visit={visit} />
      <div className={classes.submit}>
        <p role="status">{lines ? say("lines_left", { n: lines }) : open ? say("questions_left", { n: open }) : say(mayBeSent ? "all_set" : "read_first")}</p>
        <Button type="submit" size="md" disabled={!ready || busy}>
          {say(busy ? "sending" : "send")}
        </Button>
      </div>
    </form>
  );
}
