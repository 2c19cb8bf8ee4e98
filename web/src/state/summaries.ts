import { listConversations } from "../api/conversations";
import { Refused, Unreachable } from "../api/problems";
import type { Summary } from "../api/types";
import { connection } from "./connection";
import { Store } from "./store";

interface Listed {
  phase: "loading" | "ready" | "failed";
  problem: string;
  search: string;
  found: Summary[];
}

/** The person's conversations, as the list at the side shows them. */
class Summaries extends Store<Listed> {
  #asked = 0;

  constructor() {
    super({ phase: "loading", problem: "", search: "", found: [] });
    connection.onReturn(() => void this.load());
  }

  async load(): Promise<void> {
    const number = ++this.#asked; // a slow answer to an earlier search must not overwrite a later one
    try {
      const found = await listConversations(this.get().search);
      if (number === this.#asked) this.change({ phase: "ready", found, problem: "" });
    } catch (error) {
      if (error instanceof Refused && error.status !== 401) this.change({ phase: "failed", problem: error.message });
      else if (!(error instanceof Unreachable || error instanceof Refused)) throw error;
    }
  }

  async look(search: string): Promise<void> {
    this.change({ search });
    await this.load();
  }
}

export const summaries = new Summaries();
