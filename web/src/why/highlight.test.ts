import type { Matched } from "../api/types";
import { levelOf, linkedReplyWords, linkedWeights, piecesOf } from "./highlight";

const span = (start: number, end: number, weight = 0) => ({ start, end, weight });

test("pieces joined are the text, whatever the spans say", () => {
  const text = "Oh, a 🐕 dog.";
  const spans = [[span(0, 2), span(4, 5), span(9, 12)], [span(5, 2), span(0, 99)], [span(0, 5), span(3, 8)], []];
  for (const words of spans)
    expect(
      piecesOf(text, words, () => 1)
        .map((piece) => piece.text)
        .join(""),
    ).toBe(text);
});

test("words keep their numbers, and what is between them has none", () => {
  expect(piecesOf("a b", [span(0, 1), span(2, 3)], (word) => word)).toEqual([
    { text: "a", word: 0, level: 0 },
    { text: " ", word: null, level: 0 },
    { text: "b", word: 1, level: 4 },
  ]);
});

test("weights become five levels", () => {
  expect([0, 0.1, 0.2, 0.5, 0.75, 1].map(levelOf)).toEqual([0, 0, 1, 2, 3, 4]);
});

test("links of one reply word are found, the strongest where there are two", () => {
  const other: Matched = {
    of: "message",
    text: "",
    source: "",
    words: [],
    links: [
      [0, 3, 0.4],
      [0, 3, 0.9],
      [2, 1, 0.5],
    ],
  };
  expect([...linkedWeights(other, 0)]).toEqual([[3, 0.9]]);
  expect([...linkedReplyWords([other])]).toEqual([0, 2]);
});
