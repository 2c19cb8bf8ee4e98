// @vitest-environment jsdom
import { json, serve } from "../testing/server";
import { StudyClient } from "./client";
import { isStale, watchPair } from "./pairWatch";
import type { Pair, Talking } from "./types";

const talking = (version: number): Talking => ({
  state: "talking",
  version,
  talk: 1,
  of: 2,
  role: "speaker",
  situation: null,
  emotion: null,
  turns: [],
  your_turn: true,
  least: 4,
  most: 8,
  may_finish: false,
  partner_away: false,
  care: null,
});
const over: Pair = { state: "over", version: 0 };
const events = (...pairs: Pair[]) =>
  new Response(pairs.map((pair) => `event: pair\ndata: ${JSON.stringify(pair)}\n\n`).join(": still here\n\n"));

test("what is older than what is shown is not shown; the end always is", () => {
  expect(isStale(talking(5), talking(4))).toBe(true);
  expect(isStale(talking(5), talking(5))).toBe(false);
  expect(isStale(talking(5), over)).toBe(false);
  expect(isStale({ state: "waiting", version: 9, waited_seconds: 1 }, talking(1))).toBe(false);
});

test("events are told until the pair is over, and nobody is asked", async () => {
  const asked = serve(() => events(talking(1), talking(2), over));
  const told: Pair[] = [];
  await watchPair(new StudyClient(), (pair) => told.push(pair), new AbortController().signal);
  expect(told).toEqual([talking(1), talking(2), over]);
  expect(asked.map(({ path }) => path)).toEqual(["/api/study/pair/stream"]);
});

test.each([
  ["refused", () => new Response("", { status: 502 })],
  ["cut", () => "away" as const],
  ["ended too soon", () => events(talking(1))],
])("a stream that is %s gives way to asking", async (_, stream) => {
  vi.useFakeTimers();
  let looks = 0;
  serve(({ path }) => (path.endsWith("/stream") ? stream() : json(++looks < 3 ? talking(looks) : over)));
  const told: Pair[] = [];
  const watched = watchPair(new StudyClient(), (pair) => told.push(pair), new AbortController().signal);
  await vi.advanceTimersByTimeAsync(10_000);
  await watched;
  expect(looks).toBe(3);
  expect(told.at(-1)).toEqual(over);
});

test("a stream in which nothing arrives, behind a proxy that holds it back, gives way to asking", async () => {
  vi.useFakeTimers();
  serve(({ path }) => (path.endsWith("/stream") ? new Response(new ReadableStream()) : json(over)));
  const told: Pair[] = [];
  const open = StudyClient.prototype.open;
  // a real fetch cuts the body off when it is aborted; the made-up one has to be told
  vi.spyOn(StudyClient.prototype, "open").mockImplementation(async function (this: StudyClient, path, signal) {
    await open.call(this, path, signal);
    return new ReadableStream({ start: (body) => signal.addEventListener("abort", () => body.error(signal.reason)) });
  });
  const watched = watchPair(new StudyClient(), (pair) => told.push(pair), new AbortController().signal);
  await vi.advanceTimersByTimeAsync(6000);
  await watched;
  expect(told).toEqual([over]);
});

test("who leaves the page is told nothing more", async () => {
  vi.useFakeTimers();
  serve(() => json(talking(1)));
  const gone = new AbortController();
  const told: Pair[] = [];
  const watched = watchPair(new StudyClient(), (pair) => told.push(pair), gone.signal);
  await vi.advanceTimersByTimeAsync(100);
  const before = told.length;
  gone.abort();
  await vi.advanceTimersByTimeAsync(60_000);
  await watched;
  expect(told).toHaveLength(before);
});
