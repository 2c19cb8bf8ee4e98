import type { Summary } from "../api/types";
import { words, type Key } from "../words/words";

const DAY = 24 * 60 * 60 * 1000;

/** Conversations by when they were last gone on with; groups without any are left out. */
export function groupedByDay(found: readonly Summary[], now: Date): { key: Key; items: Summary[] }[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const groups: { key: Key; from: number; items: Summary[] }[] = [
    { key: "list.today", from: midnight, items: [] },
    { key: "list.yesterday", from: midnight - DAY, items: [] },
    { key: "list.week", from: midnight - 7 * DAY, items: [] },
    { key: "list.earlier", from: -Infinity, items: [] },
  ];
  for (const summary of found) {
    const last = new Date(summary.last).getTime();
    groups.find((group) => last >= group.from)?.items.push(summary);
  }
  return groups.filter((group) => group.items.length > 0);
}

/** What a conversation is called: its title, or how it began. */
export function titleOf(summary: { title: string | null; first_words?: string }): string {
  return summary.title?.trim() || summary.first_words?.trim() || words("list.untitled");
}
