import { en } from "./en";

export type Key = keyof typeof en;
export type Values = Record<string, string | number>;
export type Entry = string | { readonly one: string; readonly other: string };

const LANGUAGE = "en";
const plural = new Intl.PluralRules(LANGUAGE);
const number = new Intl.NumberFormat(LANGUAGE);

/** A text of the catalogue. `{name}` is filled in; a text with forms goes by the number `n`. */
export function words(key: Key, values: Values = {}): string {
  return told(en[key], values);
}

/** The same for an entry of another catalogue. */
export function told(entry: Entry, values: Values = {}): string {
  const text = typeof entry === "string" ? entry : entry[plural.select(Number(values.n)) === "one" ? "one" : "other"];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? number.format(value) : value;
  });
}

/** A text for a name that the server gave (an emotion, a step); the name itself where the catalogue has none. */
export function wordsFor(group: "emotion" | "step" | "source" | "layer" | "danger", name: string): string {
  const entry = (en as Record<string, unknown>)[`${group}.${name}`];
  return typeof entry === "string" ? entry : name;
}

const share = new Intl.NumberFormat(LANGUAGE, { style: "percent", maximumFractionDigits: 0 });
const score = new Intl.NumberFormat(LANGUAGE, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const clock = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "medium", timeStyle: "short" });

export const percent = (value: number): string => share.format(value);
export const decimal = (value: number): string => score.format(value);
export const whole = (value: number): string => number.format(Math.round(value));
export const moment = (iso: string): string => clock.format(new Date(iso));
