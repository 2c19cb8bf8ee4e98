import type { Summary } from "../api/types";
import { groupedByDay, titleOf } from "./grouping";

const at = (id: string, last: string): Summary => ({ id, title: null, started: last, last, turns: 2, first_words: id });

test("conversations are grouped by the day they were last gone on with", () => {
  const now = new Date(2026, 5, 10, 15);
  const groups = groupedByDay(
    [
      at("now", new Date(2026, 5, 10, 0, 1).toISOString()),
      at("last night", new Date(2026, 5, 9, 23, 59).toISOString()),
      at("friday", new Date(2026, 5, 5, 12).toISOString()),
      at("long ago", new Date(2025, 0, 1).toISOString()),
    ],
    now,
  );
  expect(groups.map(({ key, items }) => [key, items.map(({ id }) => id)])).toEqual([
    ["list.today", ["now"]],
    ["list.yesterday", ["last night"]],
    ["list.week", ["friday"]],
    ["list.earlier", ["long ago"]],
  ]);
});

test("a conversation goes by its title, else by its first words, else by a word for neither", () => {
  expect(titleOf({ title: "My move", first_words: "hi" })).toBe("My move");
  expect(titleOf({ title: " ", first_words: "hi" })).toBe("hi");
  expect(titleOf({ title: null, first_words: "" })).toBe("Without words yet");
});
