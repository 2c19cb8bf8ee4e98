import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { compare } from "../api/person";
import type { About, Answer } from "../api/types";
import { attempt } from "../state/notices";
import { goTo } from "../state/route";
import { talkFor } from "../state/talks";
import { sentencesIn } from "../talk/listenerName";
import { personaProblem } from "../talk/personaProblem";
import { words } from "../words/words";
import { AnswerCard } from "./AnswerCard";
import classes from "./Compare.module.css";

export function CaseStudy({ about }: { about: About }) {
  const study = about.case_study;
  const example = study.personas.map(({ sentences }) => sentences.join("\n"));
  const [message, setMessage] = useState(study.message);
  const [personas, setPersonas] = useState(example);
  const [answers, setAnswers] = useState<(Answer | null)[]>([]);
  const [busy, setBusy] = useState(false);
  const problems = personas.map((text) => personaProblem(text, about.limits));
  const fits = message.trim() !== "" && message.length <= about.limits.message && problems.every((each) => !each);
  const isExample = message === study.message && personas.every((text, index) => text === example[index]);
  const ask = async () => {
    setBusy(true);
    await attempt(async () => {
      const columns = personas.map((text) => ({ listener_persona: sentencesIn(text) }));
      setAnswers((await compare({ text: message.trim(), conversation: null, columns })).columns);
    });
    setBusy(false);
  };
  const reset = () => {
    setMessage(study.message);
    setPersonas(example);
    setAnswers([]);
  };
  const change = (place: number, text: string) =>
    setPersonas(personas.map((persona, index) => (index === place ? text : persona)));
  const talkWith = (text: string) => {
    void talkFor(null).choose({ listener_persona: sentencesIn(text) });
    goTo({ view: "talk", id: null });
  };
  return (
    <>
      <form
        className={classes.question}
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <Textarea
          className={classes.message}
          label={words("listeners.message")}
          rows={2}
          dir="auto"
          value={message}
          maxLength={about.limits.message}
          onChange={(event) => setMessage(event.currentTarget.value)}
        />
        <div className={classes.actions}>
          <Button type="submit" loading={busy} disabled={!fits}>
            {words("listeners.ask")}
          </Button>
          {!isExample && (
            <Button variant="subtle" color="gray" onClick={reset}>
              {words("listeners.reset")}
            </Button>
          )}
        </div>
      </form>
      <div className={classes.columns} data-count={personas.length}>
        {personas.map((text, index) => (
          <section key={index} className={classes.column} aria-labelledby={`listener-${index}`}>
            <h2 id={`listener-${index}`}>{study.personas[index]?.title ?? words("listeners.persona", { n: index + 1 })}</h2>
            <Textarea
              aria-label={words("listeners.persona_label", { n: index + 1 })}
              rows={2}
              dir="auto"
              value={text}
              error={problems[index] || undefined}
              onChange={(event) => change(index, event.currentTarget.value)}
            />
            <div className={classes.result}>
              <AnswerCard answer={answers[index] ?? null} busy={busy} empty={words("listeners.empty")} />
            </div>
            <Button className={classes.use} size="compact-sm" variant="subtle" onClick={() => talkWith(text)}>
              {words("listeners.use")}
            </Button>
          </section>
        ))}
      </div>
    </>
  );
}
