import { needsReason, REASON } from "../answering";
import type { Answers, ChoiceBlock } from "../types";
import { say } from "../words";
import classes from "./Questions.module.css";

interface Props {
  block: ChoiceBlock;
  answers: Answers;
  onChange: (key: string, value: string) => void;
}

/** One of several answers; some of them ask why. */
export function ChoiceView({ block, answers, onChange }: Props) {
  const value = answers[block.key];
  return (
    <fieldset className={classes.question}>
      <legend>
        {block.text}
        {!block.required && <small>{say("optional")}</small>}
      </legend>
      <div className={block.type === "preference" ? classes.beside : classes.below}>
        {block.options.map((option) => (
          <label key={option.key} className={classes.option}>
            <input
              type="radio"
              name={block.key}
              value={option.key}
              checked={value === option.key}
              onChange={() => onChange(block.key, option.key)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
      {needsReason(block, value) && (
        <label className={classes.reason}>
          <span>{say("reason")}</span>
          <textarea
            className={classes.box}
            dir="auto"
            rows={2}
            maxLength={4000}
            value={String(answers[block.key + REASON] ?? "")}
            onChange={(event) => onChange(block.key + REASON, event.currentTarget.value)}
          />
        </label>
      )}
    </fieldset>
  );
}
