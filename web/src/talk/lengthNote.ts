import { words } from "../words/words";

const NEAR = 500; // characters before the end at which the count appears

/** How much still fits into a message; nothing while there is plenty of room. */
export function lengthNote(length: number, longest: number): string {
  const left = longest - length;
  if (left > NEAR) return "";
  return left >= 0 ? words("composer.left", { n: left }) : words("composer.over", { n: -left, longest });
}
