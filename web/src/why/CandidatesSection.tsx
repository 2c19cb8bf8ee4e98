import { useState } from "react";
import type { Candidate, Why } from "../api/types";
import { ShareBar } from "../shared/ShareBar";
import { decimal, words, wordsFor } from "../words/words";
import { Section } from "./Section";
import classes from "./CandidatesSection.module.css";

const AT_FIRST = 4;

/** The best proposals with their scores and what moved each of them; the first was said. */
export function CandidatesSection({ why }: { why: Why }) {
  const candidates = why.candidates ?? [];
  const [all, setAll] = useState(false);
  const shown = all ? candidates : candidates.slice(0, AT_FIRST);
  const scale = scaleOf(candidates);
  const hidden = candidates.length - shown.length;
  return (
    <Section name="candidates" title={words("candidates.title")} open={false}>
      {candidates.length < 2 && <p>{words("candidates.none")}</p>}
      <ol className={classes.list}>
        {shown.map((candidate, index) => (
          <Row key={candidate.proposal.text} candidate={candidate} isSaid={index === 0} share={scale(candidate.adjusted)} />
        ))}
      </ol>
      {hidden > 0 && (
        <button type="button" className={classes.more} onClick={() => setAll(true)}>
          {words("candidates.more", { n: hidden })}
        </button>
      )}
      {(why.review ?? []).length > 0 && (
        <>
          <h4 className={classes.heading}>{words("candidates.refused")}</h4>
          <ul className={classes.list}>
            {why.review!.map((refused) => (
              <li key={refused}>{refused}</li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

function Row({ candidate, isSaid, share }: { candidate: Candidate; isSaid: boolean; share: number }) {
  const { proposal, score, adjusted, notes } = candidate;
  return (
    <li>
      <p className={classes.text} dir="auto">
        {proposal.text} {isSaid && <span className={classes.said}>{words("candidates.said")}</span>}
      </p>
      <ShareBar share={share} tone={isSaid ? "strong" : "plain"} />
      <p className={classes.score}>
        {words("candidates.score", { adjusted: decimal(adjusted), score: decimal(score) })}
        {proposal.source && ` · ${wordsFor("source", proposal.source)}`}
      </p>
      {notes.length > 0 && (
        <ul className={classes.notes}>
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** Scores can be below zero; a bar cannot. The best is a whole bar, the worst that is shown a tenth. */
export function scaleOf(candidates: readonly Candidate[]): (adjusted: number) => number {
  const scores = candidates.map(({ adjusted }) => adjusted);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  return (adjusted) => (high > low ? 0.1 + (0.9 * (adjusted - low)) / (high - low) : 1);
}
