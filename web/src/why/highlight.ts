import type { Matched, Word } from "../api/types";

export interface Piece {
  text: string;
  /** The word's number, or null for what stands between words. */
  word: number | null;
  /** How strongly to highlight it: 0 (not at all) to 4. */
  level: number;
}

/** A text in pieces, words and what is between them, in order; joined, they are the text. */
export function piecesOf(text: string, words: readonly Word[], weights: (word: number) => number): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  words.forEach(({ start, end }, index) => {
    if (start < at || end <= start || end > text.length) return; // never show a text wrongly because of bad spans
    if (start > at) pieces.push({ text: text.slice(at, start), word: null, level: 0 });
    pieces.push({ text: text.slice(start, end), word: index, level: levelOf(weights(index)) });
    at = end;
  });
  if (at < text.length) pieces.push({ text: text.slice(at), word: null, level: 0 });
  return pieces;
}

export function levelOf(weight: number): number {
  return weight < 0.15 ? 0 : Math.min(4, Math.ceil(weight * 4));
}

/** How strongly each word of the other text is tied to one word of the reply. */
export function linkedWeights(other: Matched, replyWord: number): Map<number, number> {
  const found = new Map<number, number>();
  for (const [reply, word, weight] of other.links)
    if (reply === replyWord) found.set(word, Math.max(weight, found.get(word) ?? 0));
  return found;
}

/** The words of the reply that are tied to anything: those can be chosen. */
export function linkedReplyWords(others: readonly Matched[]): Set<number> {
  return new Set(others.flatMap((other) => other.links.map(([reply]) => reply)));
}
