import { Button } from "@mantine/core";
import { useEffect, useId, useState, type FormEvent } from "react";
import { useStore } from "../state/store";
import { wordsFor } from "../words/words";
import { countWords } from "./answering";
import { Heading } from "./Heading";
import { keepDraft, readDraft } from "./kept";
import { Paragraphs } from "./Paragraphs";
import type { Describe } from "./types";
import type { Visit } from "./visit";
import { Wrong } from "./Wrong";
import { say } from "./words";
import questions from "./blocks/Questions.module.css";
import classes from "./Study.module.css";

const DRAFT = "describe";

/** Choose a feeling, describe when one had it, and wait for somebody to tell it to. */
export function DescribePage({ visit, describe }: { visit: Visit; describe: Describe }) {
  const id = useId();
  const busy = useStore(visit, (state) => state.busy);
  const [draft, setDraft] = useState(() => readDraft(DRAFT));
  useEffect(() => keepDraft(draft), [draft]);
  const change = (key: string, value: string) => setDraft((now) => ({ ...now, answers: { ...now.answers, [key]: value } }));
  const emotion = describe.emotions.find((each) => each === draft.answers.emotion);
  const text = String(draft.answers.text ?? "");
  const n = countWords(text);
  const fits = n >= describe.least_words && n <= describe.most_words;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (emotion && fits && !busy) void visit.describe(emotion, text.trim());
  };
  return (
    <form className={classes.page} onSubmit={submit}>
      <Heading text={say("describe_title")} />
      <fieldset className={questions.question}>
        <legend>{say("describe_emotion")}</legend>
        <div className={questions.beside}>
          {describe.emotions.map((each) => (
            <label key={each} className={questions.option}>
              <input type="radio" name="emotion" checked={each === emotion} onChange={() => change("emotion", each)} />
              <span>{wordsFor("emotion", each)}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <div className={questions.question}>
        <div className={questions.label} id={`${id}-task`}>
          <Paragraphs text={describe.text} />
        </div>
        <textarea
          className={`${questions.box} ${questions.tall}`}
          aria-label={say("describe_label")}
          aria-describedby={`${id}-task ${id}-note`}
          dir="auto"
          rows={4}
          maxLength={4000}
          value={text}
          onChange={(event) => change("text", event.currentTarget.value)}
        />
        <p className={questions.note} id={`${id}-note`} data-wrong={n > describe.most_words}>
          {say("words_between", { least: describe.least_words, most: describe.most_words, n })} {say("describe_private")}
        </p>
      </div>
      <Wrong visit={visit} />
      <div className={classes.submit}>
        <p />
        <Button type="submit" size="md" disabled={!emotion || !fits || busy}>
          {say("describe_send")}
        </Button>
      </div>
    </form>
  );
}
