import type { About, Column } from "../api/types";

/** A column as it is being set up. */
export interface Asked {
  id: number;
  voice: string;
  alpha: number;
  takesAlpha: boolean;
  seed: number;
  /** Empty: whichever fits best. */
  strategy: string;
}

const ALPHA = 0.4; // between the paper's 0 and 0.75

/** What is compared before anybody chose: the first two voices, or one voice twice, the second time with a strategy. */
export function firstColumns(about: About): Asked[] {
  const voices = about.voices.slice(0, 2);
  const [only] = voices;
  const strategy = only?.takes_strategy ? (about.strategies[0]?.name ?? "") : "";
  if (voices.length === 1 && only) return [asked(1, only), { ...asked(2, only), seed: strategy ? 0 : 1, strategy }];
  return voices.map((voice, index) => asked(index + 1, voice));
}

export function asked(id: number, voice: About["voices"][number]): Asked {
  return { id, voice: voice.name, alpha: ALPHA, takesAlpha: voice.takes_alpha, seed: 0, strategy: "" };
}

export function columnOf({ voice, alpha, takesAlpha, seed, strategy }: Asked): Column {
  return { voice, seed, ...(takesAlpha ? { alpha } : {}), ...(strategy ? { strategy } : {}) };
}
