import { ask, call } from "./client";
import { eventsIn } from "./events";
import { Unreachable } from "./problems";
import { words } from "../words/words";
import type { Choices, Conversation, Counts, MessageToSend, Reasons, Reply, Summary, Why, Words } from "./types";

const ROOT = "/api/conversations";
const at = (id: string, rest = "") => `${ROOT}/${encodeURIComponent(id)}${rest}`;

export async function listConversations(search = ""): Promise<Summary[]> {
  const query = search.trim() ? `?search=${encodeURIComponent(search.trim())}` : "";
  return (await ask<{ conversations: Summary[] }>("GET", ROOT + query)).conversations;
}

export const beginConversation = (choices: Choices, key: string) =>
  ask<Conversation>("POST", ROOT, { body: choices, key });

export const readConversation = (id: string) => ask<Conversation>("GET", at(id));

export const changeConversation = (id: string, choices: Choices) =>
  ask<Conversation>("PATCH", at(id), { body: choices });

export const eraseConversation = (id: string) => ask<Counts>("DELETE", at(id));

export const undoFrom = (id: string, turn: number | null) =>
  ask<Conversation>("POST", at(id, "/undo"), { body: turn === null ? {} : { turn } });

export async function stopMessage(id: string, key: string): Promise<boolean> {
  return (await ask<{ stopped: boolean }>("POST", at(id, "/stop"), { body: { key } })).stopped;
}

export async function exportConversation(id: string, format: "markdown" | "json"): Promise<Blob> {
  return (await call("GET", at(id, `/export?format=${format}`), { accept: "*/*" })).blob();
}

export async function readWhy(id: string, turn: number): Promise<Why> {
  return (await ask<{ why: Why }>("GET", at(id, `/turns/${turn}/why`))).why;
}

export const readReasons = (id: string) => ask<Reasons>("GET", at(id, "/reasons?last=200"));

export const readWords = (id: string, turn: number) => ask<Words>("GET", at(id, `/turns/${turn}/words`));

/** Say something; `onPiece` hears the reply's pieces as they come, the promise is the whole of it. */
export async function say(
  id: string,
  message: MessageToSend,
  key: string,
  onPiece: (text: string) => void,
  signal?: AbortSignal,
): Promise<Reply> {
  const options = { body: message, key, accept: "text/event-stream", signal };
  const response = await call("POST", at(id, "/messages/stream"), options);
  try {
    for await (const event of eventsIn(response.body!)) {
      if (event.name === "piece") onPiece((JSON.parse(event.data) as { text: string }).text);
      if (event.name === "reply") return JSON.parse(event.data) as Reply;
    }
  } catch (error) {
    throw new Unreachable(words("problem.unreachable"), { cause: error });
  }
  throw new Unreachable(words("problem.unreachable")); // the stream ended before the reply did
}
