import type { About, Conversation, Reply, Why } from "../api/types";

export const about: About = {
  version: "0.1.0",
  local: true,
  country: "GB",
  limits: {
    message: 8000,
    title: 120,
    persona_sentence: 500,
    listener_sentence: 200,
    listener_sentences: 10,
    columns: 4,
    alpha: 2,
  },
  voices: [
    {
      name: "default",
      title: "Chosen replies",
      description: "Chooses what fits.",
      default: true,
      takes_strategy: true,
      takes_persona: true,
      takes_alpha: false,
      shows_words: true,
    },
    {
      name: "pal",
      title: "Written replies",
      description: "Writes word by word.",
      default: false,
      takes_strategy: true,
      takes_persona: true,
      takes_alpha: true,
      shows_words: false,
    },
  ],
  listener_personas: [{ id: "gardener", title: "A gardener", sentences: ["I grow beans.", "I like rain."] }],
  case_study: { title: "", message: "I ran a mile.", personas: [] },
  strategies: [{ name: "Question", title: "Ask", description: "Asks." }],
  emotions: [],
};

export const why: Why = {
  kind: "reply",
  emotions: [
    ["lonely", 0.6],
    ["sad", 0.25],
    ["hopeful", 0.15],
  ],
  strategy: "Question",
  screening: { danger: null, certainty: 0.01, state: { phase: "calm", danger: null } },
};

export function conversation(id: string, ...texts: string[]): Conversation {
  return {
    id,
    title: null,
    voice: "default",
    listener_persona: [],
    country: null,
    safety: { phase: "calm", danger: null },
    persona: [],
    turns: texts.map((text, index) => ({ speaker: index % 2 ? "supporter" : "seeker", text })),
  };
}

export function reply(turn: number, text: string, reasons: Why = why): Reply {
  return { conversation: "00000000000000aa", turn, text, why: reasons };
}
