import { ActionIcon } from "@mantine/core";
import { useState } from "react";
import { editSentence, forgetSentence } from "../api/person";
import type { Sentence } from "../api/types";
import { Icon } from "../shared/Icon";
import { InlineEditor } from "../shared/InlineEditor";
import { attempt } from "../state/notices";
import { session } from "../state/session";
import { useStore } from "../state/store";
import { percent, words } from "../words/words";
import { Origin } from "./Origin";
import classes from "./Belief.module.css";

interface Props {
  sentence: Sentence;
  /** The conversation it is shown beside, if any. */
  here: string | null;
  /** How much of the answer's attention fell on it. */
  weight?: number;
  title?: string;
  onChanged: () => Promise<void>;
}

/** One sentence about the person: where it came from, and two ways to correct it. */
export function Belief({ sentence, here, weight, title, onChanged }: Props) {
  const [editing, setEditing] = useState(false);
  const longest = useStore(session, ({ about }) => about?.limits.persona_sentence ?? 500);
  const save = async (text: string) => {
    const done = await attempt(async () => {
      await editSentence(sentence.id, text);
      await onChanged();
    }, words("beliefs.saved"));
    if (done) setEditing(false);
  };
  const erase = () =>
    attempt(async () => {
      await forgetSentence(sentence.id);
      await onChanged();
    }, words("beliefs.erased"));
  if (editing)
    return (
      <li className={classes.belief}>
        <InlineEditor
          label={words("beliefs.edit_label")}
          value={sentence.text}
          longest={longest}
          onSave={save}
          onCancel={() => setEditing(false)}
        />
      </li>
    );
  return (
    <li className={classes.belief}>
      <div className={classes.text}>
        <p dir="auto">{sentence.text}</p>
        <p className={classes.origin}>
          <Origin sentence={sentence} here={here} title={title} />
          {sentence.edited && <span>{words("beliefs.edited")}</span>}
          {here === null && sentence.remembered && <span>{words("beliefs.remembered")}</span>}
          {weight !== undefined && <span>{words("beliefs.used", { share: percent(weight) })}</span>}
        </p>
        {here === null &&
          sentence.history.map((earlier) => (
            <p key={earlier.until} className={classes.earlier}>
              {words("beliefs.before", { text: earlier.text, reason: earlier.reason })}
            </p>
          ))}
      </div>
      <div className={classes.buttons}>
        <ActionIcon size={30} aria-label={words("beliefs.edit", { text: sentence.text })} onClick={() => setEditing(true)}>
          <Icon name="edit" size={15} />
        </ActionIcon>
        <ActionIcon size={30} aria-label={words("beliefs.erase", { text: sentence.text })} onClick={() => void erase()}>
          <Icon name="erase" size={15} />
        </ActionIcon>
      </div>
    </li>
  );
}
