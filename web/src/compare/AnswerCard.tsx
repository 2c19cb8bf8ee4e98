import { Skeleton } from "@mantine/core";
import type { Answer } from "../api/types";
import { session } from "../state/session";
import { useStore } from "../state/store";
import { percent, whole, words, wordsFor } from "../words/words";
import classes from "./AnswerCard.module.css";

/** One answer of several, with the little that makes it comparable. */
export function AnswerCard({ answer, busy, empty }: { answer: Answer | null; busy: boolean; empty: string }) {
  if (busy) return <Skeleton height={96} radius="md" />;
  if (!answer) return <p className={classes.empty}>{empty}</p>;
  if (answer.error || answer.text === null)
    return (
      <p className={classes.error} role="alert">
        {answer.error}
      </p>
    );
  return (
    <div className={classes.answer} aria-live="polite">
      <p className={classes.text} dir="auto">
        {answer.text}
      </p>
      {answer.note && <p className={classes.note}>{answer.note}</p>}
      <Facts answer={answer} />
      <RunnersUp answer={answer} />
    </div>
  );
}

function Facts({ answer }: { answer: Answer }) {
  const about = useStore(session, (now) => now.about);
  const { why } = answer;
  const strategy = about?.strategies.find(({ name }) => name === why?.strategy)?.title ?? why?.strategy;
  const feeling = why?.emotions?.[0];
  const used = [...(why?.listener_persona ?? []), ...(why?.persona ?? [])];
  const most = used.sort((one, other) => other.weight - one.weight)[0];
  return (
    <ul className={classes.facts}>
      {strategy && <li>{strategy}</li>}
      {feeling && (
        <li>{words("compare.feeling", { emotion: wordsFor("emotion", feeling[0]), share: percent(feeling[1]) })}</li>
      )}
      <li>{words("compare.milliseconds", { milliseconds: whole(answer.milliseconds) })}</li>
      {most && (
        <li className={classes.used}>
          {words("compare.persona", { text: most.text, share: percent(most.weight) })}
        </li>
      )}
    </ul>
  );
}

function RunnersUp({ answer }: { answer: Answer }) {
  const others = answer.why?.candidates?.slice(1, 4) ?? [];
  if (!others.length) return null;
  return (
    <details className={classes.others}>
      <summary>{words("compare.runners_up")}</summary>
      <ol>
        {others.map(({ proposal }) => (
          <li key={proposal.text} dir="auto">
            {proposal.text}
          </li>
        ))}
      </ol>
    </details>
  );
}
