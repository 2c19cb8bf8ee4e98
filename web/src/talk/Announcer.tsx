import { VisuallyHidden } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { words } from "../words/words";

/** Tells a screen reader each new reply once, whole; word by word it would only stutter. */
export function Announcer({ talk }: { talk: Talk }) {
  const turns = useStore(talk.store, (state) => state.conversation?.turns);
  const wasTalking = useRef(false);
  const isTalking = useStore(talk.store, (state) => state.pending !== null);
  const [told, setTold] = useState("");
  useEffect(() => {
    const last = turns?.at(-1);
    if (wasTalking.current && !isTalking && last?.speaker === "supporter")
      setTold(words("talk.said_by_listener", { text: last.text }));
    wasTalking.current = isTalking;
  }, [isTalking, turns]);
  return (
    <VisuallyHidden>
      <div aria-live="polite">{told}</div>
    </VisuallyHidden>
  );
}
