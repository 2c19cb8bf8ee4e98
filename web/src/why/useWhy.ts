import { useEffect, useState } from "react";
import { Refused, Unreachable } from "../api/problems";
import type { Why } from "../api/types";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { words } from "../words/words";

/** The reasons of one reply, fetched when they are first looked at. */
export function useWhy(talk: Talk, turn: number): { why: Why | undefined; problem: string; retry: () => void } {
  const why = useStore(talk.store, (state) => state.whys[turn]);
  const [problem, setProblem] = useState("");
  const [tries, setTries] = useState(0);
  useEffect(() => {
    setProblem("");
    talk.whyOf(turn).catch((error: unknown) => {
      if (error instanceof Refused) setProblem(error.status === 404 ? words("why.none") : error.message);
      else if (error instanceof Unreachable) setProblem(error.message);
      else throw error;
    });
  }, [talk, turn, tries]);
  return { why, problem: why ? "" : problem, retry: () => setTries(tries + 1) };
}
