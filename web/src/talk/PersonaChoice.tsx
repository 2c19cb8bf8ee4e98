import { Textarea } from "@mantine/core";
import type { ListenerPersona } from "../api/types";
import { words } from "../words/words";
import { sameTexts, sentencesIn } from "./listenerName";
import classes from "./ListenerDialog.module.css";

interface Props {
  presets: ListenerPersona[];
  text: string;
  disabled: boolean;
  problem: string;
  onChange: (text: string) => void;
}

/** The persona the listener speaks with: one of a few, or in the person's own words. */
export function PersonaChoice({ presets, text, disabled, problem, onChange }: Props) {
  const sentences = sentencesIn(text);
  const choices = [{ id: "", title: words("listener.none"), sentences: [] as string[] }, ...presets];
  return (
    <fieldset className={classes.group} disabled={disabled}>
      <legend>{words("listener.persona")}</legend>
      <p className={classes.hint}>{words(disabled ? "listener.no_persona" : "listener.persona_more")}</p>
      <div className={classes.presets}>
        {choices.map((preset) => (
          <button
            key={preset.id}
            type="button"
            aria-pressed={sameTexts(preset.sentences, sentences)}
            onClick={() => onChange(preset.sentences.join("\n"))}
          >
            {preset.title}
          </button>
        ))}
      </div>
      <Textarea
        aria-label={words("listener.sentences")}
        placeholder={words("listener.placeholder")}
        rows={3}
        dir="auto"
        value={text}
        error={problem || undefined}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </fieldset>
  );
}
