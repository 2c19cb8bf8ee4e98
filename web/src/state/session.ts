import { giveConsent, readAbout, readConsent } from "../api/person";
import { Refused, Unreachable } from "../api/problems";
import type { About, Consent } from "../api/types";
import { connection } from "./connection";
import { Store } from "./store";

interface Session {
  about: About | null;
  consent: Consent | null;
  problem: string;
}

/** What holds for the whole page: what the server can do, and whether the person wants to be remembered. */
class SessionStore extends Store<Session> {
  constructor() {
    super({ about: null, consent: null, problem: "" });
    connection.onReturn(() => void this.load());
  }

  async load(): Promise<void> {
    try {
      const [about, consent] = await Promise.all([readAbout(), readConsent()]);
      this.set({ about, consent, problem: "" });
    } catch (error) {
      if (error instanceof Refused && error.status !== 401) this.change({ problem: error.message });
      else if (!(error instanceof Unreachable || error instanceof Refused)) throw error;
    }
  }

  async agree(agreed: boolean): Promise<void> {
    this.change({ consent: await giveConsent(agreed) });
  }
}

export const session = new SessionStore();
