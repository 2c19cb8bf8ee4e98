import { Refused, Unreachable } from "../api/problems";
import { words } from "../words/words";
import { Store } from "./store";

export interface Notice {
  id: number;
  text: string;
  kind: "done" | "problem";
}

const STAYS = { done: 4000, problem: 9000 };

class Notices extends Store<readonly Notice[]> {
  #last = 0;

  say(text: string, kind: Notice["kind"] = "done"): void {
    const id = ++this.#last;
    this.set([...this.get().filter((notice) => notice.text !== text), { id, text, kind }].slice(-3));
    setTimeout(() => this.close(id), STAYS[kind]);
  }

  close(id: number): void {
    this.set(this.get().filter((notice) => notice.id !== id));
  }
}

export const notices = new Notices([]);

/** Do something for a person; if the server refuses, its sentence is shown. True when it was done. */
export async function attempt(work: () => Promise<unknown>, done = ""): Promise<boolean> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
    notices.say(error instanceof Refused ? error.message : words("problem.unreachable"), "problem");
    return false;
  }
  if (done) notices.say(done);
  return true;
}
