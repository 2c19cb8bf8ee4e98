import type { Sentence } from "../api/types";
import { hashOf } from "../state/route";
import { words } from "../words/words";

interface Props {
  sentence: Sentence;
  here: string | null;
  title?: string;
}

/** Where a sentence about the person came from; in the open conversation, a way there. */
export function Origin({ sentence, here, title }: Props) {
  const { conversation, turn } = sentence;
  if (conversation === null || turn === null) return <span>{words("beliefs.yourself")}</span>;
  if (conversation === here)
    return (
      <button type="button" aria-label={words("beliefs.turn_label", { turn })} onClick={() => showTurn(turn)}>
        {words("beliefs.turn", { turn })}
      </button>
    );
  if (here !== null) return <span>{words("beliefs.elsewhere")}</span>;
  return (
    <span>
      {words("beliefs.turn", { turn })}{" "}
      {title && (
        <a href={hashOf({ view: "talk", id: conversation })}>{words("about_you.conversation", { title })}</a>
      )}
    </span>
  );
}

function showTurn(turn: number): void {
  const place = document.getElementById(`turn-${turn}`);
  place?.scrollIntoView({ block: "center" });
  place?.animate?.([{ background: "var(--accent-ground)" }, { background: "transparent" }], 1600);
}
