import type { LikertBlock } from "../types";
import { say } from "../words";
import classes from "./Questions.module.css";

interface Props {
  block: LikertBlock;
  /** Whom it is about, where two are shown. */
  who: string | null;
  value: string | number | undefined;
  onChange: (key: string, value: number) => void;
}

const FITS_BELOW = 5; // points with room for words under each

/** A scale. Arrow keys move along it, as with any set of radio buttons. */
export function LikertView({ block, who, value, onChange }: Props) {
  const points = Array.from({ length: block.points }, (_, place) => place + 1);
  const below = block.points <= FITS_BELOW;
  const anchors = points.filter((point) => block.anchors[point]);
  return (
    <fieldset className={classes.question}>
      <legend>
        {who && <span className={classes.who}>{who}</span>}
        {block.text}
        {!block.required && <small>{say("optional")}</small>}
      </legend>
      <div className={classes.scale} style={{ gridTemplateColumns: `repeat(${block.points}, minmax(0, 1fr))` }}>
        {points.map((point) => (
          <label key={point} className={classes.point}>
            <input
              type="radio"
              name={block.key}
              value={point}
              checked={value === point}
              onChange={() => onChange(block.key, point)}
              aria-label={block.anchors[point] ? `${point}: ${block.anchors[point]}` : String(point)}
            />
            <span className={classes.number}>{point}</span>
            {below && <span className={classes.anchor}>{block.anchors[point]}</span>}
          </label>
        ))}
      </div>
      {!below && (
        <p className={classes.anchors} aria-hidden="true">
          {anchors.map((point) => (
            <span key={point}>
              {point} = {block.anchors[point]}
            </span>
          ))}
        </p>
      )}
    </fieldset>
  );
}
