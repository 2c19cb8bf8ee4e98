import { useState } from "react";
import type { Likely, Why } from "../api/types";
import type { Talk } from "../state/talk";
import { percent, words, wordsFor } from "../words/words";
import { EmotionChart } from "./EmotionChart";
import { EmotionGrid } from "./EmotionGrid";
import { Section } from "./Section";
import { useReasons } from "./useReasons";
import classes from "./FeelingSection.module.css";

interface Props {
  talk: Talk;
  why: Why;
  turn: number;
  onChoose: (turn: number) => void;
}

export function FeelingSection({ talk, why, turn, onChoose }: Props) {
  const reasons = useReasons(talk);
  const [all, setAll] = useState(false);
  const emotions = why.emotions ?? [];
  return (
    <Section name="feeling" title={words("feeling.title")}>
      <p>{feelingSentence(emotions)}</p>
      {reasons && <EmotionChart reasons={reasons} turn={turn} onChoose={onChoose} />}
      {emotions.length > 0 && (
        <button type="button" className={classes.all} aria-expanded={all} onClick={() => setAll(!all)}>
          {words("feeling.all", { n: emotions.length })}
        </button>
      )}
      {all && <EmotionGrid emotions={emotions} />}
      <p className={classes.quiet}>{words("feeling.not_sure")}</p>
    </Section>
  );
}

export function feelingSentence(emotions: Likely): string {
  const [first, second, third] = emotions;
  if (!first) return words("feeling.none");
  const name = (each: Likely[number]) => wordsFor("emotion", each[0]);
  const lead = { first: name(first), share: percent(first[1]) };
  if (!second || !third) return words("feeling.mostly", lead);
  return words("feeling.with_two", {
    ...lead,
    second: name(second),
    share2: percent(second[1]),
    third: name(third),
    share3: percent(third[1]),
  });
}
