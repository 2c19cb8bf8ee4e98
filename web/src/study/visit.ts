import { Refused } from "../api/problems";
import { notices } from "../state/notices";
import { Store } from "../state/store";
import { StudyClient } from "./client";
import { isNamed, type Entry } from "./entry";
import { forgetDraft, forgetToken, keepToken, readToken } from "./kept";
import type { Answers, Facts, Pair, Side, Step, Told } from "./types";
import { say } from "./words";

const ROOT = "/api/study";
const THINKING = 180_000; // milliseconds that a listener may take for a reply

interface State {
  /** Null where no study is served. */
  facts: Facts | null;
  /** Preview and outside: nobody is known here, and only what everybody may know is shown. */
  phase: "loading" | "preview" | "outside" | "inside";
  step: Step | null;
  busy: boolean;
  /** What the server says is wrong with what was sent. */
  problem: string;
}

/** One person's way through the study. The server says what comes next; this asks it, and holds what it said. */
export class Visit extends Store<State> {
  readonly client: StudyClient;

  constructor(client = new StudyClient()) {
    super({ facts: null, phase: "loading", step: null, busy: false, problem: "" });
    this.client = client;
  }

  async start(entry: Entry): Promise<void> {
    try {
      const facts = await this.client.send<Facts>("GET", ROOT);
      this.change({ facts });
      if (entry.by === "preview") this.change({ phase: "preview" });
      else await this.#comeIn(entry, facts);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.change({ phase: "outside", problem: error.message });
    }
  }

  async #comeIn(entry: Entry, facts: Facts): Promise<void> {
    if (entry.by === "link") keepToken(entry.token);
    // somebody who opens the open link again is still the same person
    const known = isNamed(entry) ? null : readToken();
    if (known && (await this.#goesOn(known))) return;
    if (entry.by === "link") return this.change({ phase: "outside", problem: say("bad_link") });
    if (entry.by !== "open" && facts.needs_open_token) return this.change({ phase: "outside", problem: "" });
    const { token } = await this.client.send<{ token: string }>("POST", `${ROOT}/enter`, { body: enterBody(entry) });
    keepToken(token);
    await this.#goesOn(token);
  }

  /** Whether the server knows this token. */
  async #goesOn(token: string): Promise<boolean> {
    this.client.goBy(token);
    try {
      this.change({ step: await this.#post("next", {}), phase: "inside" });
      return true;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 401) throw error;
      forgetToken();
      this.client.goBy(null);
      return false;
    }
  }

  next = (): Promise<boolean> => this.#go(() => this.#post("next", {}));
  consent = (agree: boolean): Promise<boolean> => this.#go(() => this.#post("consent", { agree }));
  begin = (): Promise<boolean> => this.#go(() => this.#post("begin", {}));

  answer = (key: string, answers: Answers): Promise<boolean> =>
    this.#go(async () => {
      await this.#post(`units/${encodeURIComponent(key)}/answers`, { answers });
      forgetDraft();
      return this.#post<Step>("next", {});
    });

  describe = (emotion: string, text: string): Promise<boolean> =>
    this.#go(async () => {
      const step = await this.#post<Step>("situation", { emotion, text });
      forgetDraft();
      return step;
    });

  withdraw = (): Promise<boolean> =>
    this.#go(async () => {
      const step = await this.#post<Step>("withdraw", { sure: true });
      forgetDraft();
      return step;
    });

  leavePair = (): Promise<boolean> => this.#go(() => this.#post("pair/leave", {}));

  /** A line to the listener under a letter. Null if that does not go any more; then the page was brought up to date. */
  async tell(key: string, side: Side, number: number, text: string): Promise<Told | null> {
    const path = `units/${encodeURIComponent(key)}/chat`;
    return this.#orUpToDate(() => this.#post<Told>(path, { side, number, text }, THINKING));
  }

  async sayToPartner(text: string, number: number): Promise<Pair | null> {
    return this.#orUpToDate(() => this.#post<Pair>("pair/say", { text, number }));
  }

  async finishTalk(talk: number): Promise<Pair | null> {
    return this.#orUpToDate(() => this.#post<Pair>("pair/finish", { talk }));
  }

  /** Take a step; true if it was taken. What does not go with how things stand brings the page up to date instead. */
  async #go(work: () => Promise<Step>): Promise<boolean> {
    this.change({ busy: true, problem: "" });
    try {
      this.change({ step: await work() });
      return true;
    } catch (error) {
      await this.#tell(error);
      return false;
    } finally {
      this.change({ busy: false });
    }
  }

  async #orUpToDate<T>(work: () => Promise<T>): Promise<T | null> {
    this.change({ problem: "" });
    try {
      return await work();
    } catch (error) {
      await this.#tell(error);
      return null;
    }
  }

  async #tell(error: unknown): Promise<void> {
    if (!(error instanceof Refused)) throw error;
    if (error.status === 401) this.change({ phase: "outside", step: null, problem: error.message });
    else if (error.status === 409) {
      notices.say(error.message, "problem");
      this.change({ step: await this.#post<Step>("next", {}) });
    } else this.change({ problem: error.message });
  }

  #post<T = Step>(path: string, body: unknown, patience?: number): Promise<T> {
    return this.client.send<T>("POST", `${ROOT}/${path}`, { body, patience });
  }
}

function enterBody(entry: Entry): Record<string, string> {
  if (entry.by !== "open") return {};
  const { by: _, ...body } = entry;
  return body;
}
