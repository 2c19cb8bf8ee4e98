import type { Answers } from "./types";

/** What stays in this browser, so that somebody who closes the page comes back to where they were. */
const TOKEN = "allears-study-token";
const DRAFT = "allears-study-draft";

export interface Draft {
  /** The unit it belongs to. */
  key: string;
  /** When the unit was first shown here (milliseconds). */
  shown: number;
  answers: Answers;
}

export const readToken = (): string | null => localStorage.getItem(TOKEN);
export const keepToken = (token: string): void => localStorage.setItem(TOKEN, token);
export const forgetToken = (): void => localStorage.removeItem(TOKEN);

/** The draft of this unit; a new one where there is none, or only another unit's. */
export function readDraft(key: string, now = Date.now()): Draft {
  const fresh: Draft = { key, shown: now, answers: {} };
  const stored = localStorage.getItem(DRAFT);
  if (!stored) return fresh;
  const draft = JSON.parse(stored) as Draft;
  return draft.key === key ? draft : fresh;
}

export const keepDraft = (draft: Draft): void => localStorage.setItem(DRAFT, JSON.stringify(draft));
export const forgetDraft = (): void => localStorage.removeItem(DRAFT);
