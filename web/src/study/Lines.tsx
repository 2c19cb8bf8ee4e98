import { useEffect, useRef } from "react";
import { TypingIndicator } from "./TypingIndicator";
import type { Line } from "./types";
import { say } from "./words";
import classes from "./Lines.module.css";

interface Props {
  lines: readonly Line[];
  /** What is on its way to the server. */
  sending: string;
  /** What the other one is called. */
  other: string;
  typing: boolean;
  empty: string;
}

/** A conversation that somebody is in. New lines are read out as they come. */
export function Lines({ lines, sending, other, typing, empty }: Props) {
  const log = useRef<HTMLOListElement>(null);
  useEffect(() => {
    log.current?.scrollTo(0, log.current.scrollHeight);
  }, [lines, sending]);
  return (
    <div className={classes.log} role="log" aria-label={other}>
      <ol ref={log} tabIndex={0} aria-label={other}>
        {lines.length === 0 && !sending && <li className={classes.empty}>{empty}</li>}
        {lines.map((line, place) => (
          <li key={place} data-who={line.speaker}>
            <span>{line.speaker === "you" ? say("you") : other}</span>
            <p dir="auto">{line.text}</p>
          </li>
        ))}
        {sending && (
          <li data-who="you">
            <span>{say("you")}</span>
            <p dir="auto">{sending}</p>
          </li>
        )}
        {typing && (
          <li data-who="other">
            <TypingIndicator who={other} />
          </li>
        )}
      </ol>
    </div>
  );
}
