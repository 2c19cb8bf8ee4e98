import { Refused } from "../api/problems";
import { Store } from "../state/store";
import { words } from "../words/words";

export type Reach = "well" | "away" | "busy";

interface Options {
  body?: unknown;
  signal?: AbortSignal;
  patience?: number;
}

const PATIENCE = 30_000; // milliseconds until a call counts as lost; it is sent again then
const FIRST_WAIT = 700;
const LONGEST_WAIT = 6000;
const TOO_QUICK = 425;
const COMES_BACK = [TOO_QUICK, 429, 502, 503, 504];

/** How long to wait before a call is sent again, in milliseconds. */
export function waitBefore(times: number, retryAfter: number | null): number {
  return retryAfter !== null ? retryAfter * 1000 : Math.min(LONGEST_WAIT, FIRST_WAIT * 1.7 ** times);
}

/**
 * Calls the study's server. Every call may be sent again without harm, so one that gets no answer is, until it has one:
 * an answer is never lost to a bad connection. What the server refuses for good is thrown as `Refused`.
 */
export class StudyClient {
  readonly reach = new Store<Reach>("well");
  #token: string | null = null;
  #wake = new Set<() => void>();

  constructor() {
    if (typeof window !== "undefined") window.addEventListener("online", this.tryNow);
  }

  goBy(token: string | null): void {
    this.#token = token;
  }

  /** Do not wait any longer, for people who press the button. */
  tryNow = (): void => {
    for (const wake of [...this.#wake]) wake();
  };

  async send<T>(method: string, path: string, options: Options = {}): Promise<T> {
    for (let times = 0; ; times++) {
      const answered = await this.#once(method, path, options);
      if (answered?.ok) {
        this.reach.set("well");
        return (await answered.json()) as T;
      }
      if (answered && !COMES_BACK.includes(answered.status)) {
        this.reach.set("well");
        throw await refusal(answered);
      }
      if (answered?.status !== TOO_QUICK) this.reach.set(answered ? "busy" : "away");
      await this.#wait(waitBefore(times, answered ? retryAfterOf(answered) : null), options.signal);
    }
  }

  /** The answer as it comes, piece by piece; null if there is none. Not sent again: whoever reads it decides. */
  async open(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const response = await fetch(path, { headers: this.#headers(false, "text/event-stream"), signal, cache: "no-store" });
    return response.ok ? response.body : null;
  }

  async #once(method: string, path: string, { body, signal, patience = PATIENCE }: Options): Promise<Response | null> {
    const late = AbortSignal.timeout(patience);
    try {
      return await fetch(path, {
        method,
        headers: this.#headers(body !== undefined, "application/json"),
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, late]) : late,
        cache: "no-store",
        credentials: "omit",
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      return null;
    }
  }

  #headers(withBody: boolean, accept: string): Headers {
    const headers = new Headers({ Accept: accept });
    if (this.#token) headers.set("Authorization", `Bearer ${this.#token}`);
    if (withBody) headers.set("Content-Type", "application/json");
    return headers;
  }

  #wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.#wake.delete(wake);
        signal?.removeEventListener("abort", stop);
        settle();
      };
      const wake = () => end(resolve);
      const stop = () => end(() => reject(signal?.reason as Error));
      const timer = setTimeout(wake, milliseconds);
      this.#wake.add(wake);
      signal?.addEventListener("abort", stop);
    });
  }
}

function retryAfterOf(response: Response): number | null {
  const after = Number(response.headers.get("Retry-After"));
  return Number.isFinite(after) && after > 0 ? after : null;
}

async function refusal(response: Response): Promise<Refused> {
  const told: unknown = await response.json().catch(() => null);
  const own = told && typeof told === "object" && "error" in told && typeof told.error === "string" ? told.error : "";
  return new Refused(response.status, own || words("problem.status", { status: response.status }));
}
