import type { MessageToSend } from "../api/types";

/**
 * A message that was sent and not yet answered. It outlives a reload, and is sent again under the same key, so that the
 * server stores it once, whatever happened in between.
 */
export interface Unanswered extends MessageToSend {
  key: string;
}

const PREFIX = "allears.outbox.";

export function readOutbox(conversation: string): Unanswered | null {
  const kept = localStorage.getItem(PREFIX + conversation);
  return kept === null ? null : (JSON.parse(kept) as Unanswered);
}

export function keepInOutbox(conversation: string, message: Unanswered): void {
  localStorage.setItem(PREFIX + conversation, JSON.stringify(message));
}

export function emptyOutbox(conversation: string): void {
  localStorage.removeItem(PREFIX + conversation);
}

export function emptyAllOutboxes(): void {
  for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
}
