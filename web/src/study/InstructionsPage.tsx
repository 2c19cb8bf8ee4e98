import { Button } from "@mantine/core";
import { useStore } from "../state/store";
import { Heading } from "./Heading";
import { Paragraphs } from "./Paragraphs";
import type { Instructions } from "./types";
import type { Visit } from "./visit";
import { Wrong } from "./Wrong";
import classes from "./Study.module.css";

export function InstructionsPage({ visit, instructions }: { visit: Visit; instructions: Instructions }) {
  const busy = useStore(visit, (state) => state.busy);
  return (
    <article className={classes.page}>
      <Heading text={instructions.title} />
      <div className={classes.prose}>
        <Paragraphs text={instructions.text} />
      </div>
      <Wrong visit={visit} />
      <div className={classes.actions}>
        <Button size="md" disabled={busy} onClick={() => void visit.begin()}>
          {instructions.begin}
        </Button>
      </div>
    </article>
  );
}
