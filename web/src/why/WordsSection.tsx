import { Skeleton } from "@mantine/core";
import { useEffect, useState } from "react";
import { readWords } from "../api/conversations";
import { Refused, Unreachable } from "../api/problems";
import type { Matched, Words } from "../api/types";
import type { Talk } from "../state/talk";
import { words, type Key } from "../words/words";
import { Highlighted } from "./Highlighted";
import { linkedReplyWords, linkedWeights } from "./highlight";
import { Section } from "./Section";
import classes from "./WordsSection.module.css";

const KINDS: Matched["of"][] = ["message", "persona", "listener"];

/** Which words of the message, of what is known and of the answer the model laid side by side. */
export function WordsSection({ talk, turn }: { talk: Talk; turn: number }) {
  return (
    <Section name="words" title={words("words.title")} open={false}>
      <Matching key={turn} talk={talk} turn={turn} />
    </Section>
  );
}

function Matching({ talk, turn }: { talk: Talk; turn: number }) {
  const [found, setFound] = useState<Words | null>(null);
  const [problem, setProblem] = useState("");
  const [chosen, setChosen] = useState<number | null>(null);
  useEffect(() => {
    let current = true;
    readWords(talk.id!, turn).then(
      (answer) => current && setFound(answer),
      (error: unknown) => {
        if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
        if (current) setProblem(error.message);
      },
    );
    return () => {
      current = false;
    };
  }, [talk, turn]);
  if (problem) return <p className={classes.hint}>{problem}</p>;
  if (!found) return <Skeleton height={90} radius="md" aria-label={words("words.loading")} />;
  const weigh = (other: Matched) => {
    if (chosen === null) return (word: number) => other.words[word]?.weight ?? 0;
    const linked = linkedWeights(other, chosen);
    return (word: number) => linked.get(word) ?? 0;
  };
  return (
    <>
      <p className={classes.hint}>{words("words.hint")}</p>
      <h4 className={classes.heading}>{words("words.reply")}</h4>
      <Highlighted
        text={found.reply.text}
        words={found.reply.words}
        weights={(word) => found.reply.words[word]?.weight ?? 0}
        choosable={linkedReplyWords(found.others)}
        chosen={chosen}
        onChoose={setChosen}
      />
      {KINDS.map((kind) => {
        const texts = found.others.filter((other) => other.of === kind);
        return (
          texts.length > 0 && (
            <div key={kind}>
              <h4 className={classes.heading}>{words(`words.${kind}` satisfies Key)}</h4>
              {texts.map((other) => (
                <Highlighted key={other.text} text={other.text} words={other.words} weights={weigh(other)} />
              ))}
            </div>
          )
        );
      })}
    </>
  );
}
