import { useId } from "react";
import { Paragraphs } from "../Paragraphs";
import type { ConversationBlock, PersonaBlock, RepliesBlock, TextBlock } from "../types";
import { say } from "../words";
import classes from "./Blocks.module.css";

export function TextView({ block }: { block: TextBlock }) {
  const title = useId();
  return (
    <section className={classes.block} aria-labelledby={block.title ? title : undefined}>
      {block.title && <h2 id={title}>{block.title}</h2>}
      <div className={block.type === "situation" ? classes.situation : classes.words}>
        <Paragraphs text={block.text} />
      </div>
    </section>
  );
}

export function ConversationView({ block }: { block: ConversationBlock }) {
  const title = useId();
  return (
    <section className={classes.block} aria-labelledby={title}>
      <h2 id={title}>{block.title}</h2>
      <ol className={classes.turns}>
        {block.turns.map((turn, place) => (
          <li key={place} data-speaker={turn.speaker}>
            <span>{say(turn.speaker)}</span>
            <p dir="auto">{turn.text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function PersonaView({ block }: { block: PersonaBlock }) {
  const title = useId();
  return (
    <section className={classes.block} aria-labelledby={title}>
      <h2 id={title}>{block.title}</h2>
      <ul className={classes.persona}>
        {block.sentences.map((sentence, place) => (
          <li key={place} dir="auto">
            {sentence}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One reply needs no letter; two stand side by side. */
export function RepliesView({ block }: { block: RepliesBlock }) {
  const title = useId();
  const several = block.replies.length > 1;
  return (
    <section className={classes.block} aria-labelledby={title}>
      <h2 id={title}>{block.title}</h2>
      <div className={classes.replies} data-several={several}>
        {block.replies.map((reply) => (
          <article key={reply.side} className={classes.reply} aria-label={several ? say("reply_side", { side: reply.side }) : block.title}>
            {several && <span className={classes.letter}>{say("reply_side", { side: reply.side })}</span>}
            <p dir="auto">{reply.text}</p>
          </article>
        ))}
      </div>
    </section>
  );
}
