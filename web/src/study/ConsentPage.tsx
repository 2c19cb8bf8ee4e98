import { Button } from "@mantine/core";
import { useStore } from "../state/store";
import { Heading } from "./Heading";
import { Paragraphs } from "./Paragraphs";
import type { Consent } from "./types";
import type { Visit } from "./visit";
import { Wrong } from "./Wrong";
import classes from "./Study.module.css";

export function ConsentPage({ visit, consent }: { visit: Visit; consent: Consent }) {
  const busy = useStore(visit, (state) => state.busy);
  return (
    <article className={classes.page}>
      <Heading text={consent.title} />
      <div className={classes.prose}>
        <Paragraphs text={consent.text} />
      </div>
      <Wrong visit={visit} />
      <div className={classes.actions}>
        <Button size="md" disabled={busy} onClick={() => void visit.consent(true)}>
          {consent.agree}
        </Button>
        <Button size="md" variant="default" disabled={busy} onClick={() => void visit.consent(false)}>
          {consent.decline}
        </Button>
      </div>
    </article>
  );
}
