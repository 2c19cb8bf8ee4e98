/** What somebody is just writing, kept in this browser so that nothing is lost: one draft per conversation. */
const PREFIX = "allears.draft.";
export const NEW = "new";

export function readDraft(conversation: string): string {
  return localStorage.getItem(PREFIX + conversation) ?? "";
}

export function keepDraft(conversation: string, text: string): void {
  if (text) localStorage.setItem(PREFIX + conversation, text);
  else localStorage.removeItem(PREFIX + conversation);
}

export function forgetDrafts(): void {
  for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
}
