// @vitest-environment jsdom
import { forgetDraft, keepDraft, readDraft } from "./kept";

test("a draft comes back for its own unit, with the time it was first shown", () => {
  keepDraft({ key: "one", shown: 1000, answers: { empathy: 4 } });
  expect(readDraft("one", 5000)).toEqual({ key: "one", shown: 1000, answers: { empathy: 4 } });
  expect(readDraft("another", 5000)).toEqual({ key: "another", shown: 5000, answers: {} });
});

test("what was sent is kept no longer", () => {
  keepDraft({ key: "one", shown: 1000, answers: { empathy: 4 } });
  forgetDraft();
  expect(readDraft("one", 7).answers).toEqual({});
});
