import { json, serve } from "../testing/server";
import { connection } from "./connection";

beforeEach(() => connection.set("online"));

test("a lost server is asked for until it answers, and whoever waits is told once", async () => {
  vi.useFakeTimers();
  let away = true;
  const asked = serve(() => (away ? "away" : json({ status: "ok" })));
  const back = vi.fn();
  const stop = connection.onReturn(back);
  connection.lost();
  connection.lost();
  await vi.advanceTimersByTimeAsync(5000);
  expect(connection.get()).toBe("offline");
  expect(asked.length).toBeGreaterThan(1);
  away = false;
  await vi.advanceTimersByTimeAsync(6000);
  expect(connection.get()).toBe("online");
  expect(back).toHaveBeenCalledOnce();
  const before = asked.length;
  await vi.advanceTimersByTimeAsync(20000);
  expect(asked.length).toBe(before);
  stop();
});

test("a locked door is not opened by answers that need no token", () => {
  connection.locked();
  connection.heard();
  connection.lost();
  expect(connection.get()).toBe("locked");
  connection.unlocked();
  expect(connection.get()).toBe("online");
});
