import type { Reply } from "../api/types";

export interface Asked {
  method: string;
  path: string;
  body: unknown;
  key: string | null;
  token: string | null;
}

type Answer = Response | Promise<Response> | "away";

/** A server made of one function; remembers what it was asked. "away" is a connection that cannot be made. */
export function serve(answer: (asked: Asked) => Answer): Asked[] {
  const seen: Asked[] = [];
  vi.stubGlobal("fetch", async (path: string, options: RequestInit = {}) => {
    const headers = new Headers(options.headers);
    const asked = {
      method: options.method ?? "GET",
      path,
      body: typeof options.body === "string" ? (JSON.parse(options.body) as unknown) : undefined,
      key: headers.get("Idempotency-Key"),
      token: headers.get("Authorization"),
    };
    seen.push(asked);
    const answered = answer(asked);
    if (answered === "away") throw new TypeError("Failed to fetch");
    return answered;
  });
  return seen;
}

export const json = (body: unknown, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });

/** A reply as it comes over the wire: word by word, then whole. */
export function stream(reply: Reply): Response {
  const pieces = reply.text.match(/\s*\S+\s*/g) ?? [];
  const events = pieces.map((text) => `event: piece\ndata: ${JSON.stringify({ text })}\n\n`);
  return new Response(`${events.join("")}event: reply\ndata: ${JSON.stringify(reply)}\n\n`);
}
