import { Button } from "@mantine/core";
import { useState } from "react";
import { attempt } from "../state/notices";
import { session } from "../state/session";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { words } from "../words/words";
import classes from "./ConsentCard.module.css";

/** Asked once, after the first answer: before it, nobody can know what they would say yes to. Never during a crisis. */
export function ConsentCard({ talk }: { talk: Talk }) {
  const consent = useStore(session, (now) => now.consent);
  const answered = useStore(talk.store, (state) => (state.conversation?.turns.length ?? 0) > 1);
  const calm = useStore(talk.store, (state) => state.conversation?.safety.phase === "calm");
  const [busy, setBusy] = useState(false);
  if (!consent || consent.asked || !answered || !calm) return null;
  const say = async (agreed: boolean) => {
    setBusy(true);
    await attempt(() => session.agree(agreed), words(agreed ? "consent.said_yes" : "consent.said_no"));
    setBusy(false);
    document.getElementById("composer")?.focus();
  };
  return (
    <section className={classes.card} aria-labelledby="consent-title">
      <h2 id="consent-title">{words("consent.title")}</h2>
      <p>{words("consent.text")}</p>
      <p className={classes.more}>{words("consent.more")}</p>
      <div className={classes.actions}>
        <Button size="compact-md" loading={busy} onClick={() => void say(true)}>
          {words("consent.yes")}
        </Button>
        <Button size="compact-md" variant="default" disabled={busy} onClick={() => void say(false)}>
          {words("consent.no")}
        </Button>
      </div>
    </section>
  );
}
