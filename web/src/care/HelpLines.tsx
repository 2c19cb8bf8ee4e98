import type { HelpLine } from "../api/types";
import { Icon } from "../shared/Icon";
import { words } from "../words/words";
import { numberToCall, phoneLink } from "./reaching";
import classes from "./HelpLines.module.css";

export function HelpLines({ lines, withSource = false }: { lines: HelpLine[]; withSource?: boolean }) {
  return (
    <ul className={classes.lines}>
      {lines.map((line) => (
        <Line key={`${line.name} ${line.reach}`} line={line} withSource={withSource} />
      ))}
    </ul>
  );
}

function Line({ line, withSource }: { line: HelpLine; withSource: boolean }) {
  const number = numberToCall(line.reach);
  return (
    <li className={classes.line}>
      <div className={classes.about}>
        <strong>{line.name}</strong>
        <span>
          {line.reach} · {line.hours}
        </span>
        {withSource && <span className={classes.source}>{words("help.source", { source: line.source })}</span>}
      </div>
      {number && (
        <a className={classes.call} href={phoneLink(number)} aria-label={words("care.call_line", { number, name: line.name })}>
          <Icon name="phone" size={16} />
          {number}
        </a>
      )}
    </li>
  );
}
