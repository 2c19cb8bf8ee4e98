/** Shows a reply word by word. Pieces come in bursts; the eye likes them evenly, and not for long. */
const A_WORD = 34; // milliseconds between two pieces
const PATIENCE = 1500; // in which all that has come is shown, however much it is

export class Reveal {
  #shown = "";
  #waiting: string[] = [];
  #running: Promise<void> | null = null;
  #over = false;

  constructor(
    private readonly show: (text: string) => void,
    private readonly still: boolean = likesStillness(),
  ) {}

  add(piece: string): void {
    this.#waiting.push(piece);
    this.#running ??= this.#run();
  }

  /** Resolves when all that was added is shown. */
  async finish(): Promise<void> {
    await this.#running;
  }

  end(): void {
    this.#over = true;
  }

  async #run(): Promise<void> {
    await pause(0); // what comes together is counted together
    const pace = this.still ? 0 : Math.min(A_WORD, PATIENCE / this.#waiting.length);
    while (this.#waiting.length && !this.#over) {
      this.#shown += this.still ? this.#waiting.splice(0).join("") : this.#waiting.shift()!;
      this.show(this.#shown);
      await pause(pace);
    }
    this.#running = null;
  }
}

export function likesStillness(): boolean {
  return window.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
}

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
