import { entryOf, isNamed } from "./entry";

test.each([
  ["", "#link=abc", { by: "link", token: "abc" }],
  ["", "#open=abc", { by: "open", open: "abc" }],
  ["?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=t", "#open=abc", { by: "open", open: "abc", prolific: "p1" }],
  ["?workerId=w1&assignmentId=a1&hitId=h", "#open=abc", { by: "open", open: "abc", mturk: "w1" }],
  ["?workerId=w1&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h", "#open=abc", { by: "preview" }],
  ["", "", { by: "nothing" }],
  ["?link=abc&open=abc", "#", { by: "nothing" }], // only what no server sees is a secret
])("the address %s%s says how somebody came", (search, hash, entry) => {
  expect(entryOf(search, hash)).toEqual(entry);
});

test("a platform's name for a person finds them again, an open link alone does not", () => {
  expect(isNamed({ by: "open", open: "abc", mturk: "w1" })).toBe(true);
  expect(isNamed({ by: "open", open: "abc" })).toBe(false);
  expect(isNamed({ by: "link", token: "abc" })).toBe(false);
});
