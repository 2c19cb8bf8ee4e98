import { NativeSelect } from "@mantine/core";
import type { About } from "../api/types";
import { words } from "../words/words";
import type { Asked } from "./columns";

interface Props {
  about: About;
  column: Asked;
  number: number;
  onChange: (column: Asked) => void;
}

const DRAWS = [1, 2, 3];

/** Which of a voice's answers: its best, one that chance draws among the nearly as good, or one of a certain kind. */
export function WaySelect({ about, column, number, onChange }: Props) {
  const takesStrategy = about.voices.find(({ name }) => name === column.voice)?.takes_strategy ?? false;
  const choose = (way: string) => {
    const [kind, value] = way.split(/:(.*)/s) as [string, string];
    onChange({ ...column, seed: kind === "draw" ? Number(value) : 0, strategy: kind === "strategy" ? value : "" });
  };
  const strategies = about.strategies.map(({ name, title }) => ({ value: `strategy:${name}`, label: title }));
  return (
    <NativeSelect
      aria-label={words("compare.way_label", { n: number })}
      value={column.strategy ? `strategy:${column.strategy}` : `draw:${column.seed}`}
      data={[
        { value: "draw:0", label: words("compare.way_best") },
        {
          group: words("compare.ways_draws"),
          items: DRAWS.map((n) => ({ value: `draw:${n}`, label: words("compare.way_draw", { n }) })),
        },
        ...(takesStrategy ? [{ group: words("compare.ways_strategies"), items: strategies }] : []),
      ]}
      onChange={(event) => choose(event.currentTarget.value)}
    />
  );
}
