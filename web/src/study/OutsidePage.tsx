import { useStore } from "../state/store";
import { Heading } from "./Heading";
import { Paragraphs } from "./Paragraphs";
import type { Facts } from "./types";
import type { Visit } from "./visit";
import { say } from "./words";
import classes from "./Study.module.css";

/** For those who only look, or whose link does not let them in. */
export function OutsidePage({ visit, facts }: { visit: Visit; facts: Facts | null }) {
  const { phase, problem } = useStore(visit, (state) => state);
  if (!facts) return <Nowhere />;
  return (
    <article className={classes.page}>
      <Heading text={facts.title} />
      <div className={classes.prose}>
        <Paragraphs text={facts.about} />
        <p className={classes.quiet}>{say("minutes", { n: facts.minutes })}</p>
      </div>
      <div className={classes.card}>
        {phase === "preview" ? (
          <>
            <strong>{say("preview")}</strong>
            <p>{say("preview_more")}</p>
          </>
        ) : (
          <>
            <strong>{problem || say("no_link")}</strong>
            <p>{say("no_link_more")}</p>
          </>
        )}
      </div>
    </article>
  );
}

/** `allears serve` shows its page for every address, this one too. */
function Nowhere() {
  return (
    <article className={classes.page}>
      <Heading text={say("no_study")} />
      <div className={classes.prose}>
        <p>{say("no_study_more")}</p>
      </div>
    </article>
  );
}
