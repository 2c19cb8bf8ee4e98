import type { About } from "../api/types";
import { words } from "../words/words";
import { sentencesIn } from "./listenerName";

/** What is wrong with a listener's persona before the server would say so; empty if nothing is. */
export function personaProblem(text: string, limits: About["limits"]): string {
  const sentences = sentencesIn(text);
  if (sentences.length > limits.listener_sentences)
    return words("listener.too_many", { most: limits.listener_sentences });
  if (sentences.some((sentence) => sentence.length > limits.listener_sentence))
    return words("listener.too_long", { longest: limits.listener_sentence });
  return "";
}
