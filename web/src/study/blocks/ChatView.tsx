import { useState } from "react";
import { CareCard } from "../CareCard";
import { LineBox } from "../LineBox";
import { Lines } from "../Lines";
import { ownLines } from "../answering";
import { Paragraphs } from "../Paragraphs";
import type { Answers, Care, ChatBlock, Chats, Line, Side, Unit } from "../types";
import type { Visit } from "../visit";
import { say } from "../words";
import classes from "./Blocks.module.css";

interface Props {
  visit: Visit;
  unit: Unit;
  block: ChatBlock;
  chats: Chats;
  answers: Answers;
  onChange: (key: string, value: string) => void;
  onChat: (side: Side, turns: Line[]) => void;
}

/** Conversations with one or two listeners who have letters for names. */
export function ChatView({ block, ...rest }: Props) {
  return (
    <section className={classes.block} aria-label={block.title}>
      <h2>{block.title}</h2>
      <div className={classes.words}>
        <Paragraphs text={block.text} />
      </div>
      <div className={classes.chats} data-several={block.sides.length > 1}>
        {block.sides.map((side) => (
          <OneChat key={side} side={side} block={block} {...rest} />
        ))}
      </div>
    </section>
  );
}

/** What is being written is kept with the unit's answers; this key is no question's, so it is never sent as one. */
const unsent = (side: Side) => `unsent ${side}`;

function OneChat({ visit, unit, block, side, chats, answers, onChange, onChat }: Props & { side: Side }) {
  const [sending, setSending] = useState("");
  const [care, setCare] = useState<Care | null>(null);
  const who = block.sides.length > 1 ? say("listener_side", { side }) : say("listener");
  const lines = chats[side] ?? [];
  const n = ownLines(lines);
  const isFull = n >= block.most_turns;
  const tell = async (text: string) => {
    setSending(text);
    const told = await visit.tell(unit.key, side, lines.length, text);
    setSending("");
    if (!told) return;
    onChange(unsent(side), "");
    onChat(side, told.turns);
    setCare(told.care);
  };
  const count = isFull ? "lines_full" : n >= block.least_turns ? "lines_enough" : "lines_so_far";
  return (
    <article className={classes.chat} aria-label={who}>
      <header>
        <h3>{who}</h3>
        <span>{say(count, { n, least: block.least_turns })}</span>
      </header>
      <Lines lines={lines} sending={sending} other={who} typing={Boolean(sending)} empty={say("nothing_yet")} />
      {care && <CareCard care={care} client={visit.client} />}
      <LineBox
        label={say("line_to", { who })}
        send={say("send_line_to", { who })}
        text={sending ? "" : String(answers[unsent(side)] ?? "")}
        onChange={(text) => onChange(unsent(side), text)}
        onSend={(text) => void tell(text)}
        disabled={isFull}
        sending={Boolean(sending)}
      />
    </article>
  );
}
