import type { Why } from "../api/types";
import { whole, words, wordsFor } from "../words/words";
import { ShareBar } from "../shared/ShareBar";
import { Section } from "./Section";
import classes from "./TimeSection.module.css";

export function TimeSection({ why }: { why: Why }) {
  const steps = Object.entries(why.milliseconds ?? {});
  const total = steps.reduce((sum, [, milliseconds]) => sum + milliseconds, 0);
  if (total === 0) return null;
  return (
    <Section name="time" title={words("time.title")} open={false}>
      <p>{words("time.total", { total: whole(total) })}</p>
      <ul className={classes.steps}>
        {steps.map(([step, milliseconds]) => (
          <li key={step}>
            <span>{wordsFor("step", step)}</span>
            <span className={classes.time}>{words("time.step", { milliseconds: whole(milliseconds) })}</span>
            <ShareBar share={milliseconds / total} tone="strong" />
          </li>
        ))}
      </ul>
    </Section>
  );
}
