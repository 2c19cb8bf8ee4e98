import { about } from "../testing/madeUp";
import { lengthNote } from "./lengthNote";
import { listenerName, sentencesIn } from "./listenerName";
import { personaProblem } from "./personaProblem";

test("the count appears near the end, and says what is too much", () => {
  expect(lengthNote(7000, 8000)).toBe("");
  expect(lengthNote(7999, 8000)).toBe("1 character left");
  expect(lengthNote(8002, 8000)).toBe("2 characters too many: I can read 8,000 at once.");
});

test("a persona is one sentence a line, and not more than the server takes", () => {
  expect(sentencesIn(" I sing. \n\nI run.\n")).toEqual(["I sing.", "I run."]);
  expect(personaProblem("I sing.", about.limits)).toBe("");
  expect(personaProblem("x\n".repeat(11), about.limits)).toBe("At most 10 sentences.");
  expect(personaProblem("x".repeat(201), about.limits)).toBe("A sentence may have 200 characters.");
});

test("a listener goes by its preset, its first sentence, or its voice", () => {
  expect(listenerName(about, { listener_persona: ["I grow beans.", "I like rain."] })).toBe("A gardener");
  expect(listenerName(about, { listener_persona: ["I sail."] })).toBe("I sail.");
  expect(listenerName(about, { voice: "pal" })).toBe("Written replies");
  expect(listenerName(about, { voice: "gone" })).toBe("Chosen replies");
});
