// @vitest-environment jsdom
import { conversation, reply } from "../testing/madeUp";
import { json, serve, stream, type Asked } from "../testing/server";
import { connection } from "./connection";
import { readDraft } from "./drafts";
import { readOutbox } from "./outbox";
import { Talk } from "./talk";

const ID = "00000000000000aa";
const isStream = (asked: Asked) => asked.path.endsWith("/messages/stream");
const texts = (talk: Talk) => talk.store.get().conversation?.turns.map((turn) => turn.text);

beforeEach(() => {
  vi.spyOn(window, "matchMedia").mockReturnValue({ matches: true } as MediaQueryList); // no waiting for words
  connection.set("online");
});

async function opened(...said: string[]): Promise<Talk> {
  const talk = new Talk(ID);
  talk.store.change({ phase: "ready", conversation: conversation(ID, ...said) });
  return talk;
}

test("the first message begins a conversation, is answered, and leaves nothing in the outbox", async () => {
  const asked = serve((call) => (isStream(call) ? stream(reply(2, "I hear you.")) : json(conversation(ID), 201)));
  const talk = new Talk(null);
  const begun = vi.fn();
  talk.onBegun = begun;
  await talk.say("Hello");
  expect(begun).toHaveBeenCalledOnce();
  expect(texts(talk)).toEqual(["Hello", "I hear you."]);
  expect(talk.store.get().whys[2]?.strategy).toBe("Question");
  expect(asked[1]!.key).toMatch(/^[0-9a-f]{32}$/);
  expect(readOutbox(ID)).toBeNull();
  expect(readOutbox("new")).toBeNull();
});

test("a message that could not be sent waits, and goes out once under the same key when the server is back", async () => {
  let away = true;
  const asked = serve((call) => (away ? "away" : isStream(call) ? stream(reply(2, "Back.")) : json({ status: "ok" })));
  const talk = await opened();
  await talk.say("Are you there?");
  expect(talk.store.get().pending?.phase).toBe("away");
  expect(readOutbox(ID)?.text).toBe("Are you there?");
  away = false;
  await connection.tryNow();
  await vi.waitFor(() => expect(texts(talk)).toEqual(["Are you there?", "Back."]));
  const keys = asked.filter(isStream).map(({ key }) => key);
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(1);
});

test("a page that was loaded anew sends what was not answered before", async () => {
  localStorage.setItem(`allears.outbox.${ID}`, JSON.stringify({ key: "k1", text: "Still here" }));
  const asked = serve((call) => (isStream(call) ? stream(reply(2, "Good.")) : json(conversation(ID))));
  const talk = new Talk(ID);
  await talk.load();
  expect(texts(talk)).toEqual(["Still here", "Good."]);
  expect(asked.find(isStream)?.key).toBe("k1");
});

test("what was read of the conversation before a reply came does not overwrite the reply", async () => {
  let answer: (response: Response) => void = () => {};
  serve((call) => (isStream(call) ? stream(reply(2, "Good.")) : new Promise((resolve) => (answer = resolve))));
  const talk = await opened();
  const loading = talk.load();
  await talk.say("Still here");
  answer(json(conversation(ID)));
  await loading;
  expect(texts(talk)).toEqual(["Still here", "Good."]);
});

test("stopping takes the message back and returns the words", async () => {
  let answer: (response: Response) => void = () => {};
  const asked = serve((call) => {
    if (isStream(call)) return new Promise((resolve) => (answer = resolve));
    return json({ stopped: true });
  });
  const talk = await opened();
  const saying = talk.say("Wait");
  await vi.waitFor(() => expect(asked.some(isStream)).toBe(true));
  await talk.stop();
  answer(json({ error: "Stopped." }, 409));
  await saying;
  expect(texts(talk)).toEqual([]);
  expect(talk.store.get().pending).toBeNull();
  expect(talk.store.get().returned).toEqual({ text: "Wait", times: 1 });
  expect(readDraft(ID)).toBe("Wait");
  expect(asked.find((call) => call.path.endsWith("/stop"))?.body).toEqual({ key: asked.find(isStream)!.key });
});

test("an edited message replaces its turn and everything after it", async () => {
  const asked = serve(() => stream(reply(2, "Oh, Tuesday.")));
  const talk = await opened("On Monday", "I see.", "And more", "Yes.");
  await talk.say("On Tuesday", { replaces: 1 });
  expect(texts(talk)).toEqual(["On Tuesday", "Oh, Tuesday."]);
  expect(asked[0]!.body).toEqual({ text: "On Tuesday", replaces: 1 });
});

test("another strategy asks the last message again", async () => {
  const asked = serve(() => stream(reply(4, "What happened?")));
  const talk = await opened("a", "b", "c", "d");
  await talk.answerAgain({ strategy: "Question" });
  expect(asked[0]!.body).toEqual({ text: "c", replaces: 3, strategy: "Question" });
  expect(texts(talk)).toEqual(["a", "b", "c", "What happened?"]);
});

test("what the server refuses goes back to the person with the server's sentence", async () => {
  serve(() => json({ error: "text: too long." }, 422));
  const talk = await opened();
  await talk.say("too much");
  expect(talk.store.get().problem).toBe("text: too long.");
  expect(talk.store.get().pending).toBeNull();
  expect(readDraft(ID)).toBe("too much");
});

test("what may work later stays where it is and can be sent again under the same key", async () => {
  let busy = true;
  const asked = serve(() => (busy ? json({ error: "Many people are talking." }, 503) : stream(reply(2, "Now."))));
  const talk = await opened();
  await talk.say("Hello");
  expect(talk.store.get().pending).toMatchObject({ phase: "failed", problem: "Many people are talking." });
  busy = false;
  await talk.retry();
  expect(texts(talk)).toEqual(["Hello", "Now."]);
  expect(asked[0]!.key).toBe(asked[1]!.key);
});

test("an expired token keeps the message until the person is let in again", async () => {
  let open = false;
  serve(() => (open ? stream(reply(2, "Welcome back.")) : json({ error: "A valid access token is needed." }, 401)));
  const talk = await opened();
  await talk.say("Hello");
  expect(connection.get()).toBe("locked");
  expect(talk.store.get().pending?.phase).toBe("away");
  open = true;
  connection.unlocked();
  await vi.waitFor(() => expect(texts(talk)).toEqual(["Hello", "Welcome back."]));
});

test("undo takes the last exchange back and returns the words, unless something new is being written", async () => {
  serve(() => json(conversation(ID, "a", "b")));
  const talk = await opened("a", "b", "c", "d");
  await talk.undo();
  expect(texts(talk)).toEqual(["a", "b"]);
  expect(readDraft(ID)).toBe("c");

  localStorage.setItem(`allears.draft.${ID}`, "something new");
  await talk.undo();
  expect(readDraft(ID)).toBe("something new");
});

test("if another window went on with the conversation, it is read anew", async () => {
  serve((call) => (isStream(call) ? stream(reply(4, "d")) : json(conversation(ID, "a", "b", "c", "d"))));
  const talk = await opened();
  await talk.say("c");
  await vi.waitFor(() => expect(texts(talk)).toEqual(["a", "b", "c", "d"]));
});

test("a conversation that is gone says so, shows nothing of itself, and loses no word", async () => {
  serve(() => json({ error: "There is no such conversation." }, 404));
  const talk = await opened("a", "b");
  await talk.say("and this?");
  expect(talk.store.get()).toMatchObject({ phase: "missing", conversation: null, pending: null });
  expect(readDraft("new")).toBe("and this?");

  localStorage.clear();
  localStorage.setItem(`allears.outbox.${ID}`, JSON.stringify({ key: "k1", text: "on its way" }));
  const another = new Talk(ID);
  await another.load();
  expect(another.store.get().phase).toBe("missing");
  expect(readDraft("new")).toBe("on its way");
  expect(readOutbox(ID)).toBeNull();
});

test("danger shows in the conversation's state as soon as the reply is there", async () => {
  const why = { kind: "crisis", screening: { state: { phase: "danger" as const, danger: "suicide" as const } } };
  serve(() => stream(reply(2, "I'm glad you told me.", why)));
  const talk = await opened();
  await talk.say("…");
  expect(talk.store.get().conversation?.safety).toEqual({ phase: "danger", danger: "suicide" });
});
