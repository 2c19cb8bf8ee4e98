import type { VoiceInfo } from "../api/types";
import { words } from "../words/words";
import classes from "./ListenerDialog.module.css";

interface Props {
  voices: VoiceInfo[];
  chosen: string;
  onChoose: (name: string) => void;
}

export function VoiceChoice({ voices, chosen, onChoose }: Props) {
  return (
    <fieldset className={classes.group}>
      <legend>{words("listener.voice")}</legend>
      <p className={classes.hint}>{words("listener.voice_more")}</p>
      <div className={classes.voices}>
        {voices.map((voice) => (
          <label key={voice.name} className={classes.voice}>
            <input
              type="radio"
              name="voice"
              value={voice.name}
              checked={voice.name === chosen}
              onChange={() => onChoose(voice.name)}
            />
            {voice.title}
            <span>
              {voice.description} {voice.leaves_machine && words("listener.leaves")}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
