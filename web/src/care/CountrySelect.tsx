import { NativeSelect } from "@mantine/core";
import { useEffect, useState } from "react";
import { readHelp } from "../api/person";
import { Refused, Unreachable } from "../api/problems";
import { words } from "../words/words";

/** Everywhere that has no lines of its own (CLDR's code for an unknown place). */
export const ELSEWHERE = "ZZ";

interface Props {
  label: string;
  description?: string;
  /** What is chosen where no country is: its value and its name. */
  none: { value: string; label: string };
  country: string | null;
  onChange: (country: string) => void;
}

export function CountrySelect({ label, description, none, country, onChange }: Props) {
  const [countries, setCountries] = useState<{ code: string; name: string }[]>([]);
  useEffect(() => {
    readHelp(null).then(
      (help) => setCountries(help.countries ?? []),
      (error: unknown) => {
        if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
      },
    );
  }, []);
  const options = countries.map(({ code, name }) => ({ value: code, label: name.replace(/^the /, "") }));
  options.sort((one, other) => one.label.localeCompare(other.label));
  if (none.value !== ELSEWHERE) options.push({ value: ELSEWHERE, label: words("care.anywhere") });
  return (
    <NativeSelect
      label={label}
      description={description}
      value={country ?? none.value}
      data={[none, ...options]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
