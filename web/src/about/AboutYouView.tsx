import { Skeleton, Switch } from "@mantine/core";
import { useCallback, useEffect, useState } from "react";
import { addSentence, readSentences } from "../api/person";
import type { Sentence } from "../api/types";
import { titleOf } from "../layout/grouping";
import { EmptyState } from "../shared/EmptyState";
import { Page } from "../shared/Page";
import { ProblemNote } from "../shared/ProblemNote";
import { connection } from "../state/connection";
import { attempt } from "../state/notices";
import { session } from "../state/session";
import { useStore } from "../state/store";
import { summaries } from "../state/summaries";
import { tellTalks } from "../state/talks";
import { words } from "../words/words";
import { AddSentence } from "./AddSentence";
import { Belief } from "./Belief";
import { YourData } from "./YourData";
import belief from "./Belief.module.css";
import classes from "./AboutYouView.module.css";

/** Everything that is noted about the person, and everything they can do about it. */
export function AboutYouView() {
  const consent = useStore(session, (now) => now.consent);
  const found = useStore(summaries, (all) => all.found);
  const [sentences, setSentences] = useState<Sentence[] | null>(null);
  const [failed, setFailed] = useState(false);
  const load = useCallback(async () => {
    setFailed(!(await attempt(async () => setSentences(await readSentences(null)))));
    tellTalks();
  }, []);
  useEffect(() => {
    void load();
    return connection.onReturn(() => void load());
  }, [load]);
  const agree = (agreed: boolean) =>
    attempt(async () => {
      await session.agree(agreed);
      await load();
    }, words(agreed ? "consent.said_yes" : "consent.said_no"));
  const add = (text: string) =>
    attempt(async () => {
      await addSentence(text, null);
      await load();
    }, words("beliefs.added"));
  const titles = new Map(found.map((summary) => [summary.id, titleOf(summary)]));
  return (
    <Page title={words("about_you.title")} text={words("about_you.text")}>
      <section className={classes.card}>
        <Switch
          size="md"
          label={words("about_you.consent")}
          description={words(consent?.agreed ? "about_you.consent_on" : "about_you.consent_off")}
          checked={consent?.agreed ?? false}
          disabled={!consent}
          onChange={(event) => void agree(event.currentTarget.checked)}
        />
        <p className={classes.text}>{words("consent.text")}</p>
      </section>
      <section className={classes.section} aria-labelledby="noted">
        <h2 id="noted">{words("about_you.sentences")}</h2>
        {failed && !sentences && <ProblemNote text={words("problem.unreachable")} onRetry={() => void load()} />}
        {!sentences && !failed && <Skeleton height={120} radius="lg" />}
        {sentences?.length === 0 && (
          <EmptyState icon="person" title={words("about_you.empty")} text={words("about_you.empty_more")} />
        )}
        <ul className={belief.beliefs}>
          {(sentences ?? []).map((sentence) => (
            <Belief
              key={sentence.id}
              sentence={sentence}
              here={null}
              title={titles.get(sentence.conversation ?? "")}
              onChanged={load}
            />
          ))}
        </ul>
        {consent?.agreed ? (
          <AddSentence onAdd={add} />
        ) : (
          <p className={classes.quiet}>{words("about_you.add_needs_consent")}</p>
        )}
      </section>
      <YourData onErased={load} />
    </Page>
  );
}
