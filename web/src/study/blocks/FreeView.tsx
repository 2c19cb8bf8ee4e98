import { useId } from "react";
import { countWords } from "../answering";
import type { FreeBlock } from "../types";
import { say } from "../words";
import classes from "./Questions.module.css";

interface Props {
  block: FreeBlock;
  value: string;
  onChange: (key: string, value: string) => void;
}

export function FreeView({ block, value, onChange }: Props) {
  const id = useId();
  const n = countWords(value);
  const limits = { least: block.least_words, most: block.most_words, n };
  const wrong = n > block.most_words || (n > 0 && n < block.least_words);
  return (
    <div className={classes.question}>
      <label htmlFor={id} className={classes.label}>
        {block.text}
        {!block.required && <small>{say("optional")}</small>}
      </label>
      <textarea
        id={id}
        className={classes.box}
        aria-describedby={`${id}-note`}
        dir="auto"
        rows={3}
        maxLength={8000}
        value={value}
        onChange={(event) => onChange(block.key, event.currentTarget.value)}
      />
      <p id={`${id}-note`} className={classes.note} data-wrong={wrong}>
        {say(block.least_words > 0 ? "words_between" : "words_most", limits)}
      </p>
    </div>
  );
}
