import type { Word } from "../api/types";
import { piecesOf } from "./highlight";
import classes from "./WordsSection.module.css";

interface Props {
  text: string;
  words: Word[];
  weights: (word: number) => number;
  choosable?: ReadonlySet<number>;
  chosen?: number | null;
  onChoose?: (word: number | null) => void;
}

/** A text whose words are coloured by weight; some of them can be chosen. */
export function Highlighted({ text, words, weights, choosable, chosen, onChoose }: Props) {
  return (
    <p className={classes.text} dir="auto">
      {piecesOf(text, words, weights).map((piece, index) => {
        if (piece.word === null) return piece.text;
        if (!choosable?.has(piece.word) || !onChoose)
          return (
            <span key={index} className={classes.word} data-level={piece.level}>
              {piece.text}
            </span>
          );
        const isChosen = piece.word === chosen;
        return (
          <button
            key={index}
            type="button"
            className={classes.word}
            data-level={piece.level}
            aria-pressed={isChosen}
            onClick={() => onChoose(isChosen ? null : piece.word)}
          >
            {piece.text}
          </button>
        );
      })}
    </p>
  );
}
