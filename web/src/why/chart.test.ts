import type { Reasons } from "../api/types";
import { highest, leadingEmotions, linesOver, softPath } from "./chart";

const row = (turn: number, ...shares: number[]) => ({
  turn,
  kind: shares.length ? "reply" : "crisis",
  shares,
  strategy: "",
  danger: null,
  voice: "",
  milliseconds: 0,
});
const reasons: Reasons = {
  conversation: "a",
  emotions: ["sad", "proud", "afraid"],
  replies: [row(2, 0.2, 0.1, 0), row(4), row(6, 0.1, 0.4, 0)],
};
const frame = { width: 100, height: 50, pad: 10 };

test("the emotions that were strongest anywhere lead; one that never was is left out", () => {
  expect(leadingEmotions(reasons, 3)).toEqual(["proud", "sad"]);
  expect(leadingEmotions(reasons, 1)).toEqual(["proud"]);
});

test("a line goes from edge to edge and skips replies for which nothing was read", () => {
  const [line] = linesOver(reasons, ["proud"], frame);
  expect(line!.points.map(({ turn, x, y }) => [turn, x, y])).toEqual([
    [2, 10, 34], // 0.1 of a scale to 0.5: a fifth of 30 above the ground at 40
    [6, 90, 16],
  ]);
});

test("the scale is the smallest quarter that holds everything", () => {
  expect([highest([]), highest([0.25]), highest([0.26]), highest([0.8])]).toEqual([0.25, 0.25, 0.5, 1]);
});

test("a path starts at the first point and ends at the last", () => {
  expect(softPath([{ x: 0, y: 0 }, { x: 10, y: 5 }])).toBe("M0 0C5 0 5 5 10 5");
  expect(softPath([])).toBe("");
});
