import type { Likely } from "../api/types";
import { ShareBar } from "../shared/ShareBar";
import { percent, wordsFor } from "../words/words";
import classes from "./EmotionGrid.module.css";

/** Every emotion with its share, strongest first. */
export function EmotionGrid({ emotions }: { emotions: Likely }) {
  const top = emotions[0]?.[1] ?? 1;
  return (
    <ul className={classes.grid}>
      {emotions.map(([name, share], index) => (
        <li key={name}>
          <span className={classes.name}>{wordsFor("emotion", name)}</span>
          <span className={classes.share}>{percent(share)}</span>
          <ShareBar share={share / top} tone={index < 3 ? "strong" : "plain"} />
        </li>
      ))}
    </ul>
  );
}
