import { Skeleton } from "@mantine/core";
import { useEffect, useState } from "react";
import { readHelp } from "../api/person";
import { Refused, Unreachable } from "../api/problems";
import type { Help } from "../api/types";
import { Page } from "../shared/Page";
import { ProblemNote } from "../shared/ProblemNote";
import { words } from "../words/words";
import { CountrySelect, ELSEWHERE } from "./CountrySelect";
import { Emergency } from "./Emergency";
import { HelpLines } from "./HelpLines";
import classes from "./HelpView.module.css";

export function HelpView() {
  const [help, setHelp] = useState<Help | null>(null);
  const [failed, setFailed] = useState(false);
  const load = (country: string | null) => {
    setFailed(false);
    readHelp(country).then(setHelp, (error: unknown) => {
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
      setFailed(true);
    });
  };
  useEffect(() => load(null), []);
  return (
    <Page title={words("help.title")} text={words("help.text")}>
      <div className={classes.help}>
        {failed && <ProblemNote text={words("help.failed")} onRetry={() => load(null)} />}
        {!help && !failed && <Skeleton height={220} radius="lg" />}
        {help && (
          <>
            <CountrySelect
              label={words("care.country")}
              none={{ value: ELSEWHERE, label: words("care.anywhere") }}
              country={help.country}
              onChange={load}
            />
            <Emergency number={help.emergency} />
            <section>
              <h2>{words("help.crisis")}</h2>
              <HelpLines lines={help.crisis} withSource />
            </section>
            {help.abuse.length > 0 && (
              <section>
                <h2>{words("help.abuse")}</h2>
                <HelpLines lines={help.abuse} withSource />
              </section>
            )}
            <p className={classes.check}>{words("help.check")}</p>
          </>
        )}
      </div>
    </Page>
  );
}
