// @vitest-environment jsdom
import { json, serve, type Asked } from "../testing/server";
import { keepToken, readToken } from "./kept";
import { Visit } from "./visit";

const facts = { title: "A study", about: "", language: "en", contact: "", minutes: 5, needs_open_token: true };
const consent = { stage: "consent", consent: { title: "", text: "", agree: "", decline: "" } };
const done = { stage: "done", done: { text: "Thank you.", code: null, return_url: null } };

/** A server that knows some tokens. */
function study(known: string[], more: (asked: Asked) => Response | null = () => null): Asked[] {
  return serve((asked) => {
    const own = more(asked);
    if (own) return own;
    if (asked.path === "/api/study") return json(facts);
    if (asked.path === "/api/study/enter") return json({ token: "new" });
    return known.includes(asked.token?.slice(7) ?? "") ? json(consent) : json({ error: "Nobody has this link." }, 401);
  });
}

test("a link of one's own needs no entering", async () => {
  const asked = study(["mine"]);
  const visit = new Visit();
  await visit.start({ by: "link", token: "mine" });
  expect(visit.get()).toMatchObject({ phase: "inside", step: consent });
  expect(asked.map(({ path }) => path)).toEqual(["/api/study", "/api/study/next"]);
  expect(readToken()).toBe("mine");
});

test("whoever opens the open link again in the same browser is the same person", async () => {
  keepToken("old");
  const asked = study(["old", "new"]);
  await new Visit().start({ by: "open", open: "o" });
  expect(asked.map(({ path }) => path)).not.toContain("/api/study/enter");
});

test("a token that this study does not know gives way to the open link", async () => {
  keepToken("of another study");
  study(["new"]);
  const visit = new Visit();
  await visit.start({ by: "open", open: "o" });
  expect(visit.get().phase).toBe("inside");
  expect(readToken()).toBe("new");
});

test("a person whom a platform names is asked for by that name, whoever used the browser before", async () => {
  keepToken("somebody");
  const asked = study(["somebody", "new"]);
  await new Visit().start({ by: "open", open: "o", prolific: "p1" });
  expect(asked[1]).toMatchObject({ path: "/api/study/enter", body: { open: "o", prolific: "p1" } });
});

test("a preview asks for the public facts and for nothing else", async () => {
  const asked = study([]);
  const visit = new Visit();
  await visit.start({ by: "preview" });
  expect(visit.get().phase).toBe("preview");
  expect(asked).toHaveLength(1);
});

test("without a link one stays outside", async () => {
  study([]);
  const visit = new Visit();
  await visit.start({ by: "nothing" });
  expect(visit.get()).toMatchObject({ phase: "outside", step: null });
});

test("what does not go with how things stand brings the page up to date", async () => {
  let answered = false;
  study(["mine"], ({ path }) => {
    if (path.endsWith("/answers")) {
      answered = true;
      return json({ error: "This was answered otherwise." }, 409);
    }
    return answered ? json(done) : null;
  });
  const visit = new Visit();
  await visit.start({ by: "link", token: "mine" });
  expect(await visit.answer("k", { empathy: 1 })).toBe(false);
  expect(visit.get()).toMatchObject({ step: done, problem: "", busy: false });
});

test("an answer that is not taken is told in the server's words, and the page stays", async () => {
  study(["mine"], ({ path }) => (path.endsWith("/answers") ? json({ error: "Please answer: empathy" }, 422) : null));
  const visit = new Visit();
  await visit.start({ by: "link", token: "mine" });
  await visit.answer("k", {});
  expect(visit.get()).toMatchObject({ step: consent, problem: "Please answer: empathy", busy: false });
});

test("where no study is served the page says so", async () => {
  serve(() => json({ error: "Not Found" }, 404));
  const visit = new Visit();
  await visit.start({ by: "nothing" });
  expect(visit.get()).toMatchObject({ phase: "outside", facts: null });
});
