import { Button } from "@mantine/core";
import { words } from "../words/words";
import classes from "./ProblemNote.module.css";

/** Something did not work: one sentence, and a way on. */
export function ProblemNote({ text, onRetry }: { text: string; onRetry?: () => void }) {
  return (
    <div className={classes.note} role="alert">
      <p>{text}</p>
      {onRetry && (
        <Button size="compact-sm" variant="light" color="clay" onClick={onRetry}>
          {words("problem.again")}
        </Button>
      )}
    </div>
  );
}
