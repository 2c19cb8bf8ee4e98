/** What goes over the wire, as docs/serve.md and /api/openapi.json describe it. */

export interface Health {
  status: "ok";
  version: string;
  needs_token: boolean;
}

export interface VoiceInfo {
  name: string;
  title: string;
  description: string;
  default: boolean;
  takes_strategy: boolean;
  takes_persona: boolean;
  takes_alpha: boolean;
  shows_words: boolean;
  /** Whether it sends words to another machine to be answered there. */
  leaves_machine?: boolean;
}

export interface ListenerPersona {
  id: string;
  title: string;
  sentences: string[];
}

export interface CaseStudy {
  title: string;
  message: string;
  personas: ListenerPersona[];
}

export interface StrategyInfo {
  name: string;
  title: string;
  description: string;
}

export interface EmotionInfo {
  name: string;
  polarity: string;
  group: string;
}

export interface About {
  version: string;
  local: boolean;
  country: string | null;
  limits: {
    message: number;
    title: number;
    persona_sentence: number;
    listener_sentence: number;
    listener_sentences: number;
    columns: number;
    alpha: number;
  };
  voices: VoiceInfo[];
  listener_personas: ListenerPersona[];
  case_study: CaseStudy;
  strategies: StrategyInfo[];
  emotions: EmotionInfo[];
}

export interface HelpLine {
  name: string;
  reach: string;
  hours: string;
  source: string;
}

export interface Help {
  country: string | null;
  place: string;
  emergency: string;
  crisis: HelpLine[];
  abuse: HelpLine[];
  poison: HelpLine[];
  countries?: { code: string; name: string }[];
}

export interface Summary {
  id: string;
  title: string | null;
  started: string;
  last: string;
  turns: number;
  first_words: string;
  match?: string | null;
}

export interface Turn {
  speaker: "seeker" | "supporter";
  text: string;
  emotion?: string | null;
  strategy?: string | null;
}

export type Danger = "suicide" | "self-harm" | "overdose" | "abuse" | "child" | "harm-to-others" | "eating" | "psychosis";

export interface Safety {
  phase: "calm" | "doubt" | "danger";
  danger: Danger | null;
}

export interface Conversation {
  id: string;
  title: string | null;
  voice: string;
  listener_persona: string[];
  country: string | null;
  safety: Safety;
  turns: Turn[];
  persona: { text: string; source: string }[];
}

/** What a person chooses for a conversation; what is left out stays. */
export interface Choices {
  title?: string | null;
  voice?: string | null;
  listener_persona?: string[];
  country?: string | null;
}

export type Likely = [name: string, share: number][];

export interface Candidate {
  proposal: { text: string; source: string; strategy: string; mood?: string };
  score: number;
  adjusted: number;
  notes: string[];
}

export interface PersonaUse {
  text: string;
  weight: number;
  source?: string;
}

/** Every field may be missing: reasons that were stored long ago know less. */
export interface Why {
  kind?: string;
  voice?: string;
  trouble?: string;
  wished?: string;
  screening?: {
    danger?: Danger | null;
    certainty?: number;
    evidence?: { layer: string; name: string; danger: string; weight: number; words: string }[];
    state?: { phase?: Safety["phase"]; danger?: Danger | null };
    answer?: string | null;
  };
  emotions?: Likely;
  strategy?: string;
  strategies?: Likely;
  persona?: PersonaUse[];
  listener_persona?: PersonaUse[];
  learned?: { text: string; source: string }[];
  changes?: { old: string; new: string; reason: string }[];
  candidates?: Candidate[];
  review?: string[];
  seed?: number;
  milliseconds?: Record<string, number>;
  help?: Help;
}

export interface Reply {
  conversation: string;
  turn: number;
  text: string;
  why: Why;
}

export interface MessageToSend {
  text: string;
  seed?: number;
  strategy?: string | null;
  replaces?: number | null;
}

export interface ReasonRow {
  turn: number;
  kind: string;
  shares: number[];
  strategy: string;
  danger: string | null;
  voice: string;
  milliseconds: number;
}

export interface Reasons {
  conversation: string;
  emotions: string[];
  replies: ReasonRow[];
}

export interface Word {
  start: number;
  end: number;
  weight: number;
}

export interface Matched {
  of: "message" | "persona" | "listener";
  text: string;
  source: string;
  words: Word[];
  links: [reply: number, other: number, weight: number][];
}

export interface Words {
  conversation: string;
  turn: number;
  reply: { text: string; words: Word[] };
  others: Matched[];
}

export interface Column {
  voice?: string;
  listener_persona?: string[] | null;
  alpha?: number | null;
  strategy?: string | null;
  seed?: number;
}

export interface Answer {
  voice: string;
  text: string | null;
  why: Why | null;
  error: string | null;
  alpha: number | null;
  note: string;
  milliseconds: number;
}

export interface Comparison {
  message: string;
  columns: Answer[];
}

export interface Consent {
  agreed: boolean;
  asked: boolean;
}

export interface Sentence {
  id: string;
  text: string;
  conversation: string | null;
  turn: number | null;
  created: string;
  edited: boolean;
  remembered: boolean;
  history: { text: string; reason: string; until: string }[];
}

export interface Counts {
  conversations: number;
  turns: number;
  sentences: number;
}
