import { NativeSelect } from "@mantine/core";
import { useEffect, useState } from "react";
import type { Help } from "../api/types";
import { ELSEWHERE } from "../care/CountrySelect";
import { Emergency } from "../care/Emergency";
import { HelpLines } from "../care/HelpLines";
import { words } from "../words/words";
import type { StudyClient } from "./client";
import { readHelp } from "./help";
import classes from "./Study.module.css";

/** People to call, by country. */
export function People({ help, client }: { help: Help; client: StudyClient }) {
  const [shown, setShown] = useState(help);
  const [countries, setCountries] = useState(help.countries ?? []);
  useEffect(() => {
    if (!help.countries) void readHelp(client, null).then((all) => setCountries(all.countries ?? []));
  }, [help, client]);
  const places = countries.map(({ code, name }) => ({ value: code, label: name.replace(/^the /, "") }));
  places.sort((one, other) => one.label.localeCompare(other.label));
  return (
    <div className={classes.people}>
      <Emergency number={shown.emergency} />
      <HelpLines lines={shown.crisis} />
      {places.length > 0 && (
        <NativeSelect
          label={words("care.country")}
          value={shown.country ?? ELSEWHERE}
          data={[{ value: ELSEWHERE, label: words("care.anywhere") }, ...places]}
          onChange={(event) => void readHelp(client, event.currentTarget.value).then(setShown)}
        />
      )}
    </div>
  );
}
