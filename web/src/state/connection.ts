import { Store } from "./store";

export type Reach = "online" | "offline" | "locked";

const FIRST_WAIT = 800;
const LONGEST_WAIT = 5000;

/** Whether the server answers. Away: asks again and again, and tells whoever waits when it is back. */
class Connection extends Store<Reach> {
  #timer: ReturnType<typeof setTimeout> | null = null;
  #waiting = new Set<() => void>();

  heard(): void {
    if (this.get() === "locked") return; // some answers need no token
    this.#back();
  }

  lost(): void {
    if (this.get() === "locked") return;
    this.set("offline");
    this.#askAgain(FIRST_WAIT);
  }

  locked(): void {
    this.#quiet();
    this.set("locked");
  }

  unlocked(): void {
    this.#back();
  }

  /** Called each time the server is back, or open again. */
  onReturn(call: () => void): () => void {
    this.#waiting.add(call);
    return () => this.#waiting.delete(call);
  }

  /** Ask at once, for people who press the button. */
  async tryNow(): Promise<boolean> {
    const well = await fetch("/api/health", { cache: "no-store" }).then(
      (response) => response.ok,
      () => false,
    );
    if (well) this.heard();
    return well;
  }

  #askAgain(wait: number): void {
    if (this.#timer) return;
    this.#timer = setTimeout(async () => {
      this.#timer = null;
      if (this.get() !== "offline") return;
      if (!(await this.tryNow())) this.#askAgain(Math.min(LONGEST_WAIT, wait * 1.5));
    }, wait);
  }

  #quiet(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #back(): void {
    if (this.get() === "online") return;
    this.#quiet();
    this.set("online");
    for (const call of [...this.#waiting]) call();
  }
}

export const connection = new Connection("online");
