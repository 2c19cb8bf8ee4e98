import { VisuallyHidden } from "@mantine/core";
import type { Reasons } from "../api/types";
import { percent, words, wordsFor } from "../words/words";
import { leadingEmotions, linesOver, softPath, topOf, type Line } from "./chart";
import classes from "./EmotionChart.module.css";

const FRAME = { width: 340, height: 112, pad: 8 };
const MOST_LINES = 4;

interface Props {
  reasons: Reasons;
  turn: number;
  onChoose: (turn: number) => void;
}

/** The strongest feelings over the turns. Drawn by hand: a library would weigh more than the rest of the panel. */
export function EmotionChart({ reasons, turn, onChoose }: Props) {
  const lines = linesOver(reasons, leadingEmotions(reasons, MOST_LINES), FRAME);
  const places = lines[0]?.points ?? [];
  if (places.length < 2) return <p className={classes.quiet}>{words("feeling.grows")}</p>;
  const chosen = places.find((place) => place.turn === turn);
  const column = FRAME.width / places.length;
  return (
    <figure className={classes.figure}>
      <svg
        className={classes.chart}
        viewBox={`0 0 ${FRAME.width} ${FRAME.height}`}
        role="img"
        aria-label={words("feeling.chart", { summary: summaryOf(lines) })}
      >
        {[0.25, 0.5, 0.75].map((part) => (
          <line key={part} className={classes.grid} x1="0" x2={FRAME.width} y1={part * FRAME.height} y2={part * FRAME.height} />
        ))}
        <text className={classes.scale} x="6" y="14">
          {percent(topOf(reasons))}
        </text>
        {chosen && <line className={classes.here} x1={chosen.x} x2={chosen.x} y1="0" y2={FRAME.height} />}
        {lines.map((line, index) => (
          <g key={line.emotion} className={classes.line} data-place={index + 1}>
            <path d={softPath(line.points)} />
            {line.points
              .filter((point) => places.length <= 12 || point.turn === turn)
              .map((point) => (
                <circle key={point.turn} cx={point.x} cy={point.y} r={point.turn === turn ? 4 : 2.4} />
              ))}
          </g>
        ))}
        {places.map((place) => (
          <rect
            key={place.turn}
            className={classes.column}
            x={place.x - column / 2}
            width={column}
            height={FRAME.height}
            onClick={() => onChoose(place.turn)}
          />
        ))}
      </svg>
      <figcaption className={classes.legend} aria-hidden="true">
        {lines.map((line, index) => (
          <span key={line.emotion} data-place={index + 1}>
            {wordsFor("emotion", line.emotion)}
          </span>
        ))}
      </figcaption>
      <VisuallyHidden>
        <ChartTable lines={lines} />
      </VisuallyHidden>
    </figure>
  );
}

/** The same in numbers, for those who do not see the picture. */
function ChartTable({ lines }: { lines: Line[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{words("feeling.turn_head")}</th>
          {lines.map((line) => (
            <th key={line.emotion} scope="col">
              {wordsFor("emotion", line.emotion)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lines[0]!.points.map(({ turn }, row) => (
          <tr key={turn}>
            <th scope="row">{turn}</th>
            {lines.map((line) => (
              <td key={line.emotion}>{percent(line.points[row]!.share)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function summaryOf(lines: Line[]): string {
  return lines
    .map((line) => {
      const share = percent(line.points.at(-1)!.share);
      return words("feeling.chart_part", { emotion: wordsFor("emotion", line.emotion), share });
    })
    .join(", ");
}
