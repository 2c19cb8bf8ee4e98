import type { Why } from "../api/types";
import { percent, words, wordsFor } from "../words/words";
import { Section } from "./Section";
import classes from "./TimeSection.module.css";

/** What the safety check saw, by which of its layers. */
export function ScreeningSection({ why }: { why: Why }) {
  const { screening } = why;
  if (screening?.certainty === undefined) return null;
  const certainty = percent(screening.certainty);
  const sentence = screening.danger
    ? words("screening.danger", { danger: wordsFor("danger", screening.danger), certainty })
    : words("screening.calm", { certainty });
  return (
    <Section name="screening" title={words("screening.title")} open={false}>
      <p>{sentence}</p>
      <ul className={classes.steps}>
        {(screening.evidence ?? []).map((seen, index) => (
          <li key={index}>
            {words("screening.evidence", {
              layer: wordsFor("layer", seen.layer),
              danger: wordsFor("danger", seen.danger),
              weight: percent(seen.weight),
            })}
          </li>
        ))}
      </ul>
    </Section>
  );
}
