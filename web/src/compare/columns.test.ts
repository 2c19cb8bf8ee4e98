import { about } from "../testing/madeUp";
import { columnOf, firstColumns } from "./columns";

test("at first the first two voices are compared", () => {
  expect(firstColumns(about).map(({ voice }) => voice)).toEqual(["default", "pal"]);
});

test("a lone voice is compared with another kind of answer of its own, or with another draw", () => {
  const lone = { ...about, voices: about.voices.slice(0, 1) };
  expect(firstColumns(lone).map(columnOf)).toEqual([
    { voice: "default", seed: 0 },
    { voice: "default", seed: 0, strategy: "Question" },
  ]);
  const plain = { ...lone, voices: [{ ...lone.voices[0]!, takes_strategy: false }] };
  expect(firstColumns(plain).map(columnOf)).toEqual([
    { voice: "default", seed: 0 },
    { voice: "default", seed: 1 },
  ]);
});

test("α is only sent to a voice that takes it", () => {
  expect(firstColumns(about).map(columnOf)).toEqual([
    { voice: "default", seed: 0 },
    { voice: "pal", seed: 0, alpha: 0.4 },
  ]);
});
