import type { Help, HelpLine } from "../api/types";

/** The number in "call 116 123" that a phone can dial; null where a line is reached otherwise. */
export function numberToCall(reach: string): string | null {
  const found = /\bcall (?:or text )?(\+?\d[\d\s\-–().]*\d|\d{2,})/i.exec(reach);
  return found ? found[1]!.trim() : null;
}

export function phoneLink(number: string): string {
  return `tel:${number.replace(/[^\d+]/g, "")}`;
}

/** Whether the emergency number is one that can be pressed. */
export function isNumber(text: string): boolean {
  return /^\+?[\d\s-]{2,}$/.test(text);
}

export function linesFor(help: Help, danger: string | null | undefined): HelpLine[] {
  if (danger === "abuse") return help.abuse;
  return danger === "overdose" ? [...help.poison, ...help.crisis] : help.crisis;
}
