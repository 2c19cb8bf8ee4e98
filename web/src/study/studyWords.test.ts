import { studyEn } from "./en";
import { say } from "./words";

const sources = import.meta.glob<string>("./**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
const written = Object.entries(sources)
  .filter(([path]) => !/\.test\.|\/en\.ts$/.test(path))
  .map(([, source]) => source)
  .join("\n");

test("every text of the study's catalogue is used somewhere", () => {
  expect(Object.keys(studyEn).filter((key) => !written.includes(`"${key}"`))).toEqual([]);
});

test("one line and several lines are told apart", () => {
  expect(say("lines_left", { n: 1 })).toBe("1 more line from you, then you can send.");
  expect(say("lines_left", { n: 3 })).toBe("3 more lines from you, then you can send.");
});
