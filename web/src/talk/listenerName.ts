import type { About, Choices } from "../api/types";
import { words } from "../words/words";

/** Who listens, in a few words: the persona if there is one, else the voice. */
export function listenerName(about: About, choices: Choices): string {
  const sentences = choices.listener_persona ?? [];
  const preset = about.listener_personas.find(({ sentences: own }) => sameTexts(own, sentences));
  const voice = about.voices.find(({ name }) => name === choices.voice) ?? about.voices.find((each) => each.default);
  if (preset) return preset.title;
  return sentences[0] ?? voice?.title ?? words("talk.listener");
}

export function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}

/** The lines of a box as sentences. */
export function sentencesIn(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}
