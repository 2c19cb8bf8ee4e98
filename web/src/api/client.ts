import { connection } from "../state/connection";
import { words } from "../words/words";
import { Refused, Unreachable } from "./problems";
import { readToken } from "./token";

interface Options {
  body?: unknown;
  key?: string;
  accept?: string;
  signal?: AbortSignal;
}

/** One call to the server. Whatever goes wrong is a `Refused` or an `Unreachable`, and the page's state knows it too. */
export async function call(method: string, path: string, options: Options = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: headersFor(options),
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      cache: "no-store",
      credentials: "omit",
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    connection.lost();
    throw new Unreachable(words("problem.unreachable"), { cause: error });
  }
  if (response.status === 401) connection.locked();
  else connection.heard();
  if (!response.ok) throw await refusal(response);
  return response;
}

export async function ask<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const response = await call(method, path, options);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

function headersFor({ body, key, accept }: Options): Headers {
  const headers = new Headers({ Accept: accept ?? "application/json" });
  const token = readToken();
  if (token) headers.set("Authorization", `Bearer ${token}`);
  if (body !== undefined) headers.set("Content-Type", "application/json");
  if (key) headers.set("Idempotency-Key", key);
  return headers;
}

async function refusal(response: Response): Promise<Refused> {
  const after = Number(response.headers.get("Retry-After"));
  const retryAfter = Number.isFinite(after) && after > 0 ? after : null;
  return new Refused(response.status, await sentenceOf(response), retryAfter);
}

/** The server's own sentence; a proxy before it may answer with something else. */
async function sentenceOf(response: Response): Promise<string> {
  const told: unknown = await response.json().catch(() => null);
  if (told && typeof told === "object" && "error" in told && typeof told.error === "string") return told.error;
  return words("problem.status", { status: response.status });
}
