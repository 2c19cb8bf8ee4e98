import type { Why } from "../api/types";
import { words } from "../words/words";
import classes from "./WhyContent.module.css";

/** What is special about this answer, in a sentence; nothing where nothing is. */
export function WhyNotes({ why }: { why: Why }) {
  const notes: string[] = [];
  if (why.kind === "crisis") notes.push(words("why.crisis"));
  else if (why.kind && why.kind !== "reply") notes.push(words("why.forget"));
  if (why.trouble) notes.push(words("why.trouble", { trouble: why.trouble }));
  if (why.wished)
    notes.push(
      why.wished === why.strategy ? words("why.wished") : words("why.wished_other", { wished: why.wished }),
    );
  return notes.map((note) => (
    <p key={note} className={classes.note}>
      {note}
    </p>
  ));
}
