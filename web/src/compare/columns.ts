import type { About, Column } from "../api/types";

/** A column as it is being set up. */
export interface Asked {
  id: number;
  voice: string;
  alpha: number;
  takesAlpha: boolean;
  seed: number;
}

const ALPHA = 0.4; // between the paper's 0 and 0.75

/** What is compared before anybody chose: the first two voices, or one voice twice with another seed. */
export function firstColumns(about: About): Asked[] {
  const voices = about.voices.slice(0, 2);
  const [only] = voices;
  if (voices.length === 1 && only) return [asked(1, only), { ...asked(2, only), seed: 1 }];
  return voices.map((voice, index) => asked(index + 1, voice));
}

export function asked(id: number, voice: About["voices"][number]): Asked {
  return { id, voice: voice.name, alpha: ALPHA, takesAlpha: voice.takes_alpha, seed: 0 };
}

export function columnOf({ voice, alpha, takesAlpha, seed }: Asked): Column {
  return takesAlpha ? { voice, alpha, seed } : { voice, seed };
}
