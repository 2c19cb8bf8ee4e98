// @vitest-environment jsdom
import { connection } from "../state/connection";
import { json, serve } from "../testing/server";
import { ask } from "./client";
import { Refused, Unreachable } from "./problems";
import { keepToken } from "./token";

beforeEach(() => connection.set("online"));

test("the token goes with every call, and only where it is kept", async () => {
  const asked = serve(() => json({}));
  await ask("GET", "/api/about");
  keepToken("annas-long-access-token", false);
  await ask("GET", "/api/about");
  expect(asked.map(({ token }) => token)).toEqual([null, "Bearer annas-long-access-token"]);
  expect(localStorage.length).toBe(0);
});

test("the server's own sentence is what a person hears", async () => {
  serve(() => json({ error: "There is no such sentence." }, 404));
  await expect(ask("GET", "/api/persona/x")).rejects.toThrow(new Refused(404, "There is no such sentence."));
});

test("an answer that is no answer of ours is told in words, too", async () => {
  serve(() => new Response("<html>Bad Gateway</html>", { status: 502 }));
  await expect(ask("GET", "/api/about")).rejects.toThrow("status 502");
});

test("no answer at all is a lost connection", async () => {
  serve(() => "away");
  await expect(ask("GET", "/api/about")).rejects.toBeInstanceOf(Unreachable);
  expect(connection.get()).toBe("offline");
});
