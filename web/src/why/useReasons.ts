import { useEffect, useState } from "react";
import { readReasons } from "../api/conversations";
import type { Reasons } from "../api/types";
import { attempt } from "../state/notices";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";

/** The feelings of all replies, looked up again after each one. */
export function useReasons(talk: Talk): Reasons | null {
  const revision = useStore(talk.store, (state) => state.revision);
  const [reasons, setReasons] = useState<Reasons | null>(null);
  useEffect(() => {
    let current = true;
    if (talk.id)
      void attempt(async () => {
        const found = await readReasons(talk.id!);
        if (current) setReasons(found);
      });
    return () => {
      current = false;
    };
  }, [talk, revision]);
  return reasons;
}
