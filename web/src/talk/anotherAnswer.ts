import { compare } from "../api/person";
import type { Column, Why } from "../api/types";

const DRAWS = 2;
const KINDS = 2;

/**
 * How to ask so that another answer comes than the one that was given: another draw among those that are nearly as good;
 * where the best one wins every draw, another kind of answer. Null if there is none. Nothing is stored by looking.
 */
export async function wishForAnother(conversation: string, said: string, why: Why): Promise<Column | null> {
  const seed = why.seed ?? 0;
  const draws = Array.from({ length: DRAWS }, (_, index): Column => ({ seed: seed + index + 1 }));
  const kinds = (why.strategies ?? [])
    .filter(([name]) => name !== why.strategy)
    .slice(0, KINDS)
    .map(([strategy]): Column => ({ strategy, seed }));
  const columns = [...draws, ...kinds];
  const answers = (await compare({ text: null, conversation, columns })).columns;
  return columns.find((_, index) => answers[index]?.text && answers[index].text !== said) ?? null;
}
