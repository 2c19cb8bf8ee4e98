import { CloseButton, NativeSelect, Slider } from "@mantine/core";
import type { About, Answer } from "../api/types";
import { decimal, words } from "../words/words";
import { AnswerCard } from "./AnswerCard";
import { asked, type Asked } from "./columns";
import { WaySelect } from "./WaySelect";
import classes from "./Compare.module.css";

interface Props {
  about: About;
  column: Asked;
  number: number;
  answer: Answer | null;
  busy: boolean;
  /** `again`: the change is meant to be heard at once, where an answer is already there. */
  onChange: (column: Asked, again: boolean) => void;
  onRemove?: () => void;
}

export function VoiceColumn({ about, column, number, answer, busy, onChange, onRemove }: Props) {
  const choose = (name: string) => {
    const voice = about.voices.find((each) => each.name === name)!;
    onChange({ ...asked(column.id, voice), seed: column.seed }, true);
  };
  return (
    <section className={classes.column} aria-label={words("compare.voice", { n: number })}>
      <NativeSelect
        label={words("compare.voice", { n: number })}
        description={about.voices.find(({ name }) => name === column.voice)?.description}
        inputWrapperOrder={["label", "input", "description"]}
        value={column.voice}
        data={about.voices.map(({ name, title }) => ({ value: name, label: title }))}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      {onRemove && (
        <CloseButton
          className={classes.remove}
          aria-label={words("compare.remove", { n: number })}
          onClick={onRemove}
        />
      )}
      {column.takesAlpha && (
        <div className={classes.alpha}>
          <div className={classes.alphaHead}>{words("compare.alpha", { alpha: decimal(column.alpha) })}</div>
          <Slider
            thumbLabel={words("compare.alpha_label", { n: number })}
            label={null}
            min={0}
            max={about.limits.alpha}
            step={0.05}
            value={column.alpha}
            onChange={(alpha) => onChange({ ...column, alpha }, false)}
            onChangeEnd={(alpha) => onChange({ ...column, alpha }, true)}
          />
          <p className={classes.hint}>{words("compare.alpha_more")}</p>
        </div>
      )}
      <WaySelect about={about} column={column} number={number} onChange={(changed) => onChange(changed, true)} />
      <div className={classes.result}>
        <AnswerCard answer={answer} busy={busy} empty={words("compare.empty")} />
      </div>
    </section>
  );
}
