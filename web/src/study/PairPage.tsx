import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { Refused } from "../api/problems";
import { notices } from "../state/notices";
import { isEnded, isStale, watchPair } from "./pairWatch";
import { TalkPage } from "./TalkPage";
import { TypingIndicator } from "./TypingIndicator";
import type { Pair } from "./types";
import { Heading } from "./Heading";
import type { Visit } from "./visit";
import { say } from "./words";
import classes from "./Study.module.css";

/** Two people, live: waiting for each other, then talking. What the server says last is what is shown. */
export function PairPage({ visit, pair: given }: { visit: Visit; pair: Pair }) {
  const [pair, setPair] = useState(given);
  const show = (came: Pair) => setPair((shown) => (isStale(shown, came) ? shown : came));
  useEffect(() => setPair(given), [given]);
  useEffect(() => {
    const gone = new AbortController();
    const onPair = (came: Pair) => {
      show(came);
      if (!isEnded(came)) return;
      if (came.state === "left") notices.say(came.text);
      void visit.next();
    };
    watchPair(visit.client, onPair, gone.signal).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error;
      void visit.next(); // there is no such pair any more: what comes now?
    });
    return () => gone.abort();
  }, [visit, given]); // a new pair is watched anew
  if (pair.state === "talking")
    return <TalkPage key={pair.talk} visit={visit} pair={pair} onPair={show} />;
  return <Waiting visit={visit} since={pair.state === "waiting" ? pair.waited_seconds : 0} />;
}

function Waiting({ visit, since }: { visit: Visit; since: number }) {
  const [began] = useState(() => Date.now() - since * 1000);
  const [minutes, setMinutes] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setMinutes(Math.floor((Date.now() - began) / 60_000)), 5000);
    return () => clearInterval(timer);
  }, [began]);
  return (
    <article className={`${classes.page} ${classes.end}`}>
      <TypingIndicator who={say("other")} />
      <Heading text={say("waiting")} />
      <div className={classes.prose}>
        <p>{say("waiting_more")}</p>
        <p role="status" className={classes.quiet}>
          {minutes > 0 && say("waited", { n: minutes })}
        </p>
      </div>
      <Button variant="default" onClick={() => void visit.leavePair()}>
        {say("leave_waiting")}
      </Button>
    </article>
  );
}
