import { answersToSend, countWords, linesMissing, paragraphs, unanswered } from "./answering";
import type { Unit } from "./types";

const unit: Unit = {
  key: "k",
  least_seconds: 0,
  blocks: [
    { type: "text", title: "", text: "Read." },
    { type: "likert", key: "empathy", text: "?", points: 5, anchors: {}, side: null, required: true },
    {
      type: "choice",
      key: "judgement",
      text: "?",
      options: [
        { key: "fits", label: "It fits", reason: false },
        { key: "other", label: "Other", reason: true },
      ],
      required: true,
    },
    { type: "free", key: "comment", text: "?", least_words: 2, most_words: 3, required: false },
  ],
};

test("what is required is open until it is answered, and an option that asks why until one says why", () => {
  expect(unanswered(unit, {})).toEqual(["empathy", "judgement"]);
  expect(unanswered(unit, { empathy: 3, judgement: "other" })).toEqual(["judgement"]);
  expect(unanswered(unit, { empathy: 3, judgement: "other", "judgement.reason": "  " })).toEqual(["judgement"]);
  expect(unanswered(unit, { empathy: 3, judgement: "other", "judgement.reason": "so" })).toEqual([]);
  expect(unanswered(unit, { empathy: 3, judgement: "fits" })).toEqual([]);
});

test("what may be left out must still have so many words once it is begun", () => {
  const others = { empathy: 3, judgement: "fits" };
  expect(unanswered(unit, { ...others, comment: "one" })).toEqual(["comment"]);
  expect(unanswered(unit, { ...others, comment: "one two three four" })).toEqual(["comment"]);
  expect(unanswered(unit, { ...others, comment: " one\n two " })).toEqual([]);
  expect(unanswered(unit, { ...others, comment: "   " })).toEqual([]);
});

test("only answers to what was asked are sent, and a reason only where it was asked for", () => {
  const draft = { empathy: 3, judgement: "fits", "judgement.reason": "old", comment: "  ", "unsent A": "half a line" };
  expect(answersToSend(unit, draft)).toEqual({ empathy: 3, judgement: "fits" });
  expect(answersToSend(unit, { ...draft, judgement: "other", comment: " two words " })).toEqual({
    empathy: 3,
    judgement: "other",
    "judgement.reason": "old",
    comment: "two words",
  });
});

test("each conversation needs so many lines of the person's own", () => {
  const chat = { type: "chat" as const, title: "", text: "", least_turns: 2, most_turns: 9, chats: {} };
  const talking: Unit = { ...unit, blocks: [{ ...chat, sides: ["A", "B"] }] };
  const lines = (n: number) => Array.from({ length: 2 * n }, (_, place) => ({ speaker: place % 2 ? "other" : "you", text: "" }) as const);
  expect(linesMissing(talking, {})).toBe(4);
  expect(linesMissing(talking, { A: lines(5), B: lines(1) })).toBe(1);
  expect(linesMissing(talking, { A: lines(2), B: lines(2) })).toBe(0);
  expect(linesMissing(unit, {})).toBe(0);
});

test("words are counted as the server counts them", () => {
  expect(countWords("  one\ttwo\n\nthree ")).toBe(3);
  expect(countWords("")).toBe(0);
});

test("blank lines part paragraphs, single line breaks do not", () => {
  expect(paragraphs("\nOne\nline.\n\n  Two. \n \n\n")).toEqual(["One line.", "Two."]);
});
