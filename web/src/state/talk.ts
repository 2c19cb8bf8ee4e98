import * as api from "../api/conversations";
import { Refused, Unreachable } from "../api/problems";
import type { Choices, Conversation, MessageToSend, Reply, Turn, Why } from "../api/types";
import { Reveal } from "../talk/reveal";
import { words } from "../words/words";
import { connection } from "./connection";
import { keepDraft, NEW, readDraft } from "./drafts";
import { emptyOutbox, keepInOutbox, readOutbox, type Unanswered } from "./outbox";
import { newKey } from "./keys";
import { Store } from "./store";

/** The message that is being answered. */
export interface Pending extends Unanswered {
  phase: "waiting" | "speaking" | "away" | "failed";
  shown: string;
  problem: string;
}

export interface TalkState {
  phase: "new" | "loading" | "ready" | "missing" | "failed";
  problem: string;
  conversation: Conversation | null;
  pending: Pending | null;
  whys: Readonly<Record<number, Why>>;
  /** Counts replies and corrections, for whoever must look again. */
  revision: number;
  /** Words that go back into the composer, and how often that happened. */
  returned: { text: string; times: number };
}

/** One conversation as the page sees it: what was said, what is being said, and everything a person can do about it. */
export class Talk {
  static #made = 0;
  /** Stays the same when a new conversation gets its id. */
  readonly number = ++Talk.#made;
  readonly store: Store<TalkState>;
  /** Told once, when a new conversation has got its id. */
  onBegun: (talk: Talk) => void = () => {};
  /** Told after everything that changes what the list of conversations shows. */
  onChange: () => void = () => {};
  choices: Choices = {};
  #giveUp = new AbortController();

  constructor(public id: string | null) {
    this.store = new Store<TalkState>({
      phase: id ? "loading" : "new",
      problem: "",
      conversation: null,
      pending: null,
      whys: {},
      revision: 0,
      returned: { text: "", times: 0 },
    });
    connection.onReturn(() => void this.#resume());
  }

  get draftName(): string {
    return this.id ?? NEW;
  }

  async load(): Promise<void> {
    if (!this.id) return;
    const before = this.store.get().conversation;
    try {
      const conversation = await api.readConversation(this.id);
      // what was said while we asked is newer than the answer
      if (this.store.get().conversation !== before) return;
      this.store.change({ phase: "ready", conversation, problem: "", revision: this.store.get().revision + 1 });
    } catch (error) {
      if (error instanceof Refused && error.status === 404) this.#gone(readOutbox(this.id)?.text ?? "");
      else if (error instanceof Refused) this.store.change({ phase: "failed", problem: error.message });
      return; // unreachable: the connection brings us back
    }
    const kept = readOutbox(this.id);
    if (kept && !this.store.get().pending) await this.#deliver(kept);
  }

  /** Say something. `again` is for another answer to the same, or for other words in its place. */
  async say(text: string, again: Omit<MessageToSend, "text"> = {}): Promise<void> {
    if (this.store.get().pending) return;
    await this.#deliver({ text, ...again, key: newKey() });
  }

  /** The last message once more, answered otherwise. */
  async answerAgain(wish: { strategy?: string; seed?: number }): Promise<void> {
    const turn = this.lastOwnTurn();
    if (turn === null) return;
    const { seed, strategy } = wish;
    const asked = { ...(seed === undefined ? {} : { seed }), ...(strategy === undefined ? {} : { strategy }) };
    await this.say(this.#turns[turn - 1]!.text, { replaces: turn, ...asked });
  }

  async retry(): Promise<void> {
    const { pending } = this.store.get();
    if (pending) await this.#deliver(unansweredOf(pending));
  }

  /** Stop: it is as if nothing had been said, and the words go back to the person. */
  async stop(): Promise<void> {
    const { pending } = this.store.get();
    if (!pending) return;
    this.#forgetPending();
    this.#giveBack(pending.text);
    this.#giveUp.abort(); // what has not left yet must not arrive after we said that it should not
    if (!this.id) return;
    const wasStored = await api.stopMessage(this.id, pending.key).catch((error: unknown) => {
      if (error instanceof Unreachable || error instanceof Refused) return false;
      throw error;
    });
    if (!wasStored || pending.replaces) await this.load();
  }

  async undo(turn: number | null = null): Promise<void> {
    const from = turn ?? this.lastOwnTurn();
    if (!this.id || from === null) return;
    const text = this.#turns[from - 1]!.text;
    const conversation = await api.undoFrom(this.id, from);
    this.#hold(conversation, keepBefore(this.store.get().whys, from));
    this.#giveBack(text);
    this.onChange();
  }

  async choose(choices: Choices): Promise<void> {
    if (this.id) {
      const conversation = await api.changeConversation(this.id, choices);
      this.store.change({ conversation });
      this.onChange();
    } else this.choices = { ...this.choices, ...choices };
    this.store.change({ revision: this.store.get().revision + 1 });
  }

  async whyOf(turn: number): Promise<Why | null> {
    const known = this.store.get().whys[turn];
    if (known || !this.id) return known ?? null;
    const why = await api.readWhy(this.id, turn);
    this.store.change({ whys: { ...this.store.get().whys, [turn]: why } });
    return why;
  }

  /** Something about the person was corrected: what is shown beside the conversation must look again. */
  corrected(): void {
    this.store.change({ revision: this.store.get().revision + 1 });
  }

  lastOwnTurn(): number | null {
    const index = this.#turns.findLastIndex((turn) => turn.speaker === "seeker");
    return index < 0 ? null : index + 1;
  }

  get #turns(): Turn[] {
    return this.store.get().conversation?.turns ?? [];
  }

  async #deliver(message: Unanswered): Promise<void> {
    this.#giveUp = new AbortController();
    this.#await({ ...message, phase: "waiting", shown: "", problem: "" });
    keepInOutbox(this.draftName, message);
    const isCurrent = () => this.store.get().pending?.key === message.key;
    const reveal = new Reveal((shown) => {
      if (isCurrent()) this.#await({ ...this.store.get().pending!, phase: "speaking", shown });
      else reveal.end();
    });
    try {
      await this.#begin(message.key);
      const { key, ...body } = message;
      const reply = await api.say(this.id!, body, key, (piece) => reveal.add(piece), this.#giveUp.signal);
      await reveal.finish();
      if (isCurrent()) this.#finish(reply, message);
    } catch (error) {
      if (isCurrent()) this.#trouble(error);
    }
  }

  async #begin(key: string): Promise<void> {
    if (this.id) return;
    const conversation = await api.beginConversation(this.choices, `begin-${key}`);
    const unanswered = readOutbox(NEW);
    emptyOutbox(NEW);
    this.id = conversation.id;
    if (unanswered) keepInOutbox(conversation.id, unanswered);
    this.store.change({ phase: "ready", conversation });
    this.onBegun(this);
  }

  #finish(reply: Reply, message: Unanswered): void {
    const before = this.store.get();
    const kept = this.#turns.slice(0, message.replaces ? message.replaces - 1 : undefined);
    if (reply.turn !== kept.length + 2) {
      this.#forgetPending(); // another window went on with this conversation
      void this.load();
      return;
    }
    const state = reply.why.screening?.state;
    const conversation: Conversation = {
      ...before.conversation!,
      safety: { phase: state?.phase ?? "calm", danger: state?.danger ?? null },
      turns: [
        ...kept,
        { speaker: "seeker", text: message.text },
        { speaker: "supporter", text: reply.text, strategy: reply.why.strategy ?? null },
      ],
    };
    emptyOutbox(this.draftName);
    const whys = { ...(message.replaces ? keepBefore(before.whys, message.replaces) : before.whys) };
    this.#hold(conversation, { ...whys, [reply.turn]: reply.why });
    this.onChange();
  }

  #hold(conversation: Conversation, whys: TalkState["whys"]): void {
    const revision = this.store.get().revision + 1;
    this.store.change({ phase: "ready", conversation, whys, pending: null, revision });
  }

  #trouble(error: unknown): void {
    const pending = this.store.get().pending!;
    if (error instanceof Unreachable || (error instanceof Refused && error.status === 401)) {
      this.#await({ ...pending, phase: "away", problem: "" });
      return;
    }
    const problem = error instanceof Refused ? error.message : words("problem.unexpected");
    if (error instanceof Refused && error.status === 404) {
      this.#gone(pending.text);
      return;
    }
    if (error instanceof Refused && [409, 413, 422].includes(error.status)) {
      // sending the same again would not help: the words go back, the sentence says why
      this.#forgetPending();
      this.#giveBack(pending.text);
      this.store.change({ problem });
      if (error.status === 409) void this.load();
      return;
    }
    this.#await({ ...pending, phase: "failed", problem });
    if (!(error instanceof Refused)) throw error;
  }

  /** The conversation is not there (any more). Nothing of it stays; words that were not answered go to a new one. */
  #gone(unanswered: string): void {
    this.#forgetPending();
    this.store.change({ phase: "missing", conversation: null, whys: {} });
    if (unanswered && !readDraft(NEW)) keepDraft(NEW, unanswered);
  }

  async #resume(): Promise<void> {
    const { phase, pending } = this.store.get();
    if (phase === "loading" || phase === "failed") await this.load();
    else if (pending?.phase === "away") await this.#deliver(unansweredOf(pending));
  }

  #await(pending: Pending): void {
    this.store.change({ pending, problem: "" });
  }

  #forgetPending(): void {
    emptyOutbox(this.draftName);
    this.store.change({ pending: null });
  }

  /** Words go back into the composer, unless something new stands there already. */
  #giveBack(text: string): void {
    if (readDraft(this.draftName).trim()) return;
    keepDraft(this.draftName, text);
    this.store.change({ returned: { text, times: this.store.get().returned.times + 1 } });
  }
}

function unansweredOf({ key, text, seed, strategy, replaces }: Pending): Unanswered {
  const message: Unanswered = { key, text };
  if (seed !== undefined) message.seed = seed;
  if (strategy !== undefined) message.strategy = strategy;
  if (replaces !== undefined) message.replaces = replaces;
  return message;
}

function keepBefore(whys: TalkState["whys"], turn: number): TalkState["whys"] {
  return Object.fromEntries(Object.entries(whys).filter(([known]) => Number(known) < turn));
}
