/** What goes over the wire between the study's pages and `allears study serve`; docs/study.md describes it. */
import type { Help } from "../api/types";

export interface Facts {
  title: string;
  about: string;
  language: string;
  contact: string;
  minutes: number;
  needs_open_token: boolean;
}

export interface Progress {
  done: number;
  of: number | null;
}

export interface Consent {
  title: string;
  text: string;
  agree: string;
  decline: string;
}

export interface Instructions {
  title: string;
  text: string;
  begin: string;
}

export interface Ending {
  text: string;
  code: string | null;
  return_url: string | null;
}

export type Ended = "done" | "screened" | "declined" | "withdrawn";

export type Step =
  | { stage: "consent"; consent: Consent }
  | { stage: "instructions"; instructions: Instructions }
  | { stage: "unit"; progress: Progress; unit: Unit }
  | { stage: "describe"; progress: Progress; describe: Describe }
  | { stage: "pair"; progress: Progress; pair: Pair }
  | { stage: Ended; progress?: Progress; done: Ending };

export interface Unit {
  /** Chance made it: it says nothing about what is shown. */
  key: string;
  least_seconds: number;
  blocks: Block[];
}

export type Side = "A" | "B";

export interface Line {
  speaker: "you" | "other";
  text: string;
}

export interface TextBlock {
  type: "text" | "situation";
  title: string;
  text: string;
}

export interface ConversationBlock {
  type: "conversation";
  title: string;
  turns: { speaker: "speaker" | "listener"; text: string }[];
}

export interface PersonaBlock {
  type: "persona";
  title: string;
  sentences: string[];
}

export interface RepliesBlock {
  type: "replies";
  title: string;
  replies: { side: Side; text: string }[];
}

export interface ChatBlock {
  type: "chat";
  title: string;
  text: string;
  sides: Side[];
  least_turns: number;
  most_turns: number;
  chats: Partial<Record<Side, Line[]>>;
}

interface Asking {
  key: string;
  text: string;
  required: boolean;
}

export interface LikertBlock extends Asking {
  type: "likert";
  points: number;
  anchors: Record<string, string>;
  side: Side | null;
}

export interface Option {
  key: string;
  label: string;
  reason?: boolean;
}

export interface ChoiceBlock extends Asking {
  type: "choice" | "preference";
  options: Option[];
}

export interface FreeBlock extends Asking {
  type: "free";
  least_words: number;
  most_words: number;
}

export type Question = LikertBlock | ChoiceBlock | FreeBlock;
export type Block = TextBlock | ConversationBlock | PersonaBlock | RepliesBlock | ChatBlock | Question;

export type Answers = Record<string, string | number>;
export type Chats = Partial<Record<Side, Line[]>>;

/** For somebody who may be in danger, and for nobody else's eyes. */
export interface Care {
  text: string;
  help: Help;
}

export interface Told {
  turns: Line[];
  care: Care | null;
}

export interface Describe {
  emotions: string[];
  text: string;
  least_words: number;
  most_words: number;
}

export interface Talking {
  state: "talking";
  version: number;
  talk: number;
  of: number;
  role: "speaker" | "listener";
  situation: string | null;
  emotion: string | null;
  turns: Line[];
  your_turn: boolean;
  least: number;
  most: number;
  may_finish: boolean;
  partner_away: boolean;
  care: Care | null;
}

export type Pair =
  | { state: "waiting"; version: number; waited_seconds: number }
  | Talking
  | { state: "left"; version: number; text: string }
  | { state: "over"; version: number };
