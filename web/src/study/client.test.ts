// @vitest-environment jsdom
import { Refused } from "../api/problems";
import { json, serve } from "../testing/server";
import { StudyClient, waitBefore } from "./client";

beforeEach(() => void vi.useFakeTimers());

test("a call without an answer is sent again, the same, until it has one", async () => {
  let times = 0;
  const asked = serve(() => (++times < 4 ? "away" : json({ stored: true })));
  const client = new StudyClient();
  client.goBy("annas-token");
  const answer = client.send("POST", "/api/study/units/k/answers", { body: { answers: { empathy: 4 } } });
  await vi.advanceTimersByTimeAsync(1);
  expect(client.reach.get()).toBe("away");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await answer).toEqual({ stored: true });
  expect(client.reach.get()).toBe("well");
  expect(asked).toHaveLength(4);
  expect(new Set(asked.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(asked[0]!.token).toBe("Bearer annas-token");
});

test.each([
  [503, "busy"],
  [429, "busy"],
  [425, "well"], // too quick: nothing is wrong, it only takes a moment
])("status %s is waited out for as long as the server says", async (status, reach) => {
  const wait = () => new Response("{}", { status, headers: { "Retry-After": "3" } });
  let times = 0;
  const asked = serve(() => (++times === 1 ? wait() : json({})));
  const client = new StudyClient();
  const answer = client.send("POST", "/api/study/next", { body: {} });
  await vi.advanceTimersByTimeAsync(2900);
  expect([asked.length, client.reach.get()]).toEqual([1, reach]);
  await vi.advanceTimersByTimeAsync(200);
  await answer;
  expect(asked).toHaveLength(2);
});

test("what the server refuses is thrown in its own sentence, and not sent again", async () => {
  const asked = serve(() => json({ error: "Please answer: empathy" }, 422));
  const refused = new StudyClient().send("POST", "/api/study/units/k/answers", { body: {} });
  await expect(refused).rejects.toThrow(new Refused(422, "Please answer: empathy"));
  expect(asked).toHaveLength(1);
});

test("who presses the button does not wait", async () => {
  let times = 0;
  serve(() => (++times === 1 ? "away" : json({ well: true })));
  const client = new StudyClient();
  const answer = client.send("GET", "/api/study");
  await vi.advanceTimersByTimeAsync(1);
  client.tryNow();
  expect(await answer).toEqual({ well: true });
});

test("waiting grows, and not for ever", () => {
  expect(waitBefore(1, null)).toBeGreaterThan(waitBefore(0, null));
  expect(waitBefore(30, null)).toBe(6000);
  expect(waitBefore(0, 12)).toBe(12_000);
});
