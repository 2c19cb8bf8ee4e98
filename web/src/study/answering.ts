import type { Answers, Block, ChatBlock, Chats, Question, Unit } from "./types";

export const REASON = ".reason";

/** Words as the server counts them. */
export function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

export function isQuestion(block: Block): block is Question {
  return block.type === "likert" || block.type === "choice" || block.type === "preference" || block.type === "free";
}

export function chatOf(unit: Unit): ChatBlock | undefined {
  return unit.blocks.find((block) => block.type === "chat");
}

/** What is sent: only what was asked, without what was left empty, and a reason only where one was asked for. */
export function answersToSend(unit: Unit, draft: Answers): Answers {
  const found: Answers = {};
  for (const block of unit.blocks.filter(isQuestion)) {
    const value = draft[block.key];
    if (value === undefined) continue;
    if (typeof value === "number") found[block.key] = value;
    else if (value.trim()) found[block.key] = value.trim();
    if (needsReason(block, value)) found[block.key + REASON] = reasonOf(block.key, draft);
  }
  return found;
}

export function needsReason(block: Question, value: string | number | undefined): boolean {
  return "options" in block && block.options.some((option) => option.key === value && option.reason === true);
}

/** Questions that still want an answer, by their keys, in order. */
export function unanswered(unit: Unit, draft: Answers): string[] {
  return unit.blocks
    .filter(isQuestion)
    .filter((block) => !isAnswered(block, draft))
    .map((block) => block.key);
}

function isAnswered(block: Question, draft: Answers): boolean {
  const value = draft[block.key];
  if (value === undefined || value === "" || (typeof value === "string" && !value.trim())) return !block.required;
  if (block.type === "free") {
    const words = countWords(String(value));
    return words >= block.least_words && words <= block.most_words;
  }
  return !needsReason(block, value) || reasonOf(block.key, draft) !== "";
}

const reasonOf = (key: string, draft: Answers): string => String(draft[key + REASON] ?? "").trim();

/** How many lines of the person's own the chats still need, together. */
export function linesMissing(unit: Unit, chats: Chats): number {
  const chat = chatOf(unit);
  if (!chat) return 0;
  return chat.sides.reduce((sum, side) => sum + Math.max(0, chat.least_turns - ownLines(chats[side] ?? [])), 0);
}

export function ownLines(lines: readonly { speaker: string }[]): number {
  return lines.filter((line) => line.speaker === "you").length;
}

/** Paragraphs of a text that keeps to blank lines between them. A single line break is only how the file was written. */
export function paragraphs(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((part) => part.replace(/\s+/g, " ").trim())
    .filter(Boolean);
}
