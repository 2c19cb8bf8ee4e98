import { eventsIn } from "../api/events";
import { Refused } from "../api/problems";
import type { StudyClient } from "./client";
import type { Pair } from "./types";

const PLACE = "/api/study/pair";
const FIRST_SIGN = 5000; // milliseconds; a proxy that holds a stream back shows itself by then
const SILENCE = 30_000; // the server gives a sign every ten seconds
const LOOK_EVERY = 2000;
const LOOKS = 8; // before a stream is tried again

/** Whether what just came is older than what is shown: an answer may overtake an event. */
export function isStale(shown: Pair, came: Pair): boolean {
  return shown.state === "talking" && came.state === "talking" && came.version < shown.version;
}

export const isEnded = (pair: Pair): boolean => pair.state === "left" || pair.state === "over";

/** Tells how the pair stands until it is over: by the server's events, and by asking where those do not come through. */
export async function watchPair(client: StudyClient, onPair: (pair: Pair) => void, signal: AbortSignal): Promise<void> {
  let ended = false;
  const tell = (pair: Pair) => {
    if (signal.aborted) return;
    ended = isEnded(pair);
    onPair(pair);
  };
  try {
    while (!ended && !signal.aborted) {
      await listen(client, tell, signal);
      for (let look = 0; look < LOOKS && !ended && !signal.aborted; look++) {
        tell(await client.send<Pair>("GET", PLACE, { signal }));
        if (!ended) await rest(LOOK_EVERY, signal);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Reads events until there are no more. A stream that breaks, or says nothing for too long, is simply over. */
async function listen(client: StudyClient, tell: (pair: Pair) => void, outer: AbortSignal): Promise<void> {
  const broken = new AbortController();
  const signal = AbortSignal.any([outer, broken.signal]);
  let timer = setTimeout(() => broken.abort(), FIRST_SIGN);
  const sign = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      clearTimeout(timer);
      timer = setTimeout(() => broken.abort(), SILENCE);
      controller.enqueue(chunk);
    },
  });
  try {
    const body = await client.open(`${PLACE}/stream`, signal);
    if (!body) return;
    for await (const event of eventsIn(body.pipeThrough(sign)))
      if (event.name === "pair") tell(JSON.parse(event.data) as Pair);
  } catch (error) {
    if (error instanceof Refused || error instanceof SyntaxError) throw error;
    // the connection broke: asking takes over
  } finally {
    clearTimeout(timer);
    broken.abort();
  }
}

function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
