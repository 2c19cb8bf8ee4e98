import { useEffect, useState } from "react";
import { readHelp } from "../api/person";
import type { Help } from "../api/types";
import { attempt } from "../state/notices";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { words } from "../words/words";
import { CountrySelect, ELSEWHERE } from "./CountrySelect";
import { Emergency } from "./Emergency";
import { HelpLines } from "./HelpLines";
import { linesFor } from "./reaching";
import classes from "./CrisisCard.module.css";

/** Somebody may be in danger: people to reach, before everything else, until the conversation is calm again. */
export function CrisisCard({ talk }: { talk: Talk }) {
  const safety = useStore(talk.store, (state) => state.conversation?.safety);
  const inDanger = safety?.phase === "danger";
  return inDanger ? <Card talk={talk} danger={safety.danger} /> : null;
}

function Card({ talk, danger }: { talk: Talk; danger: string | null }) {
  const country = useStore(talk.store, (state) => state.conversation?.country ?? null);
  const [help, setHelp] = useState<Help | null>(null);
  useEffect(() => {
    let current = true;
    void attempt(async () => {
      const found = await readHelp(country);
      if (current) setHelp(found);
    });
    return () => {
      current = false;
    };
  }, [country]);
  useEffect(() => showWordsFirst(talk), [talk, help]);
  return (
    <section className={classes.card} aria-label={words("care.region")}>
      <h2>{words("care.title")}</h2>
      <p>{words("care.text")}</p>
      {help && (
        <>
          <Emergency number={help.emergency} />
          <HelpLines lines={linesFor(help, danger)} />
        </>
      )}
      <CountrySelect
        label={words("care.country")}
        none={{ value: ELSEWHERE, label: words("care.anywhere") }}
        country={help?.country ?? null}
        onChange={(chosen) => void attempt(() => talk.choose({ country: chosen }))}
      />
      <p className={classes.quiet}>
        {words("care.talk")} {words("care.misread")}
      </p>
    </section>
  );
}

/** The card may be taller than the screen; what was said to the person comes first, the card below it. */
function showWordsFirst(talk: Talk): () => void {
  const turn = talk.store.get().conversation?.turns.length;
  const frame = requestAnimationFrame(() =>
    requestAnimationFrame(() => document.getElementById(`turn-${turn}`)?.scrollIntoView({ block: "start" })),
  );
  return () => cancelAnimationFrame(frame);
}
