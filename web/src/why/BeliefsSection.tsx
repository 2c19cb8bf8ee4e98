import { useCallback, useEffect, useState } from "react";
import { addSentence, readSentences } from "../api/person";
import type { Sentence, Why } from "../api/types";
import { attempt } from "../state/notices";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { AddSentence } from "../about/AddSentence";
import { Belief } from "../about/Belief";
import { words } from "../words/words";
import { Section } from "./Section";
import classes from "../about/Belief.module.css";

/** What is believed about the person, where it comes from, and how much it mattered; all of it theirs to change. */
export function BeliefsSection({ talk, why }: { talk: Talk; why: Why }) {
  const revision = useStore(talk.store, (state) => state.revision);
  const [known, setKnown] = useState<Sentence[] | null>(null);
  const load = useCallback(async () => {
    if (talk.id) setKnown(await readSentences(talk.id));
  }, [talk]);
  useEffect(() => void attempt(load), [load, revision]);
  const weights = new Map((why.persona ?? []).map(({ text, weight }) => [text, weight]));
  const add = (text: string) =>
    attempt(async () => {
      await addSentence(text, talk.id);
      await load();
    }, words("beliefs.added"));
  return (
    <Section name="beliefs" title={words("beliefs.title")}>
      {known?.length === 0 && <p className={classes.empty}>{words("beliefs.empty")}</p>}
      <ul className={classes.beliefs}>
        {(known ?? []).map((sentence) => (
          <Belief
            key={sentence.id}
            sentence={sentence}
            here={talk.id}
            weight={weights.get(sentence.text)}
            onChanged={load}
          />
        ))}
      </ul>
      <AddSentence onAdd={add} />
    </Section>
  );
}
