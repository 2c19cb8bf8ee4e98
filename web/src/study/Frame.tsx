import { Button } from "@mantine/core";
import { useEffect, useRef, type ReactNode } from "react";
import { Icon } from "../shared/Icon";
import { useStore } from "../state/store";
import { Foot } from "./Foot";
import type { Progress } from "./types";
import type { Visit } from "./visit";
import { say } from "./words";
import classes from "./Frame.module.css";

interface Props {
  visit: Visit;
  place: string;
  children: ReactNode;
}

/** Around every page: what this is, how far one is, whether the server answers, and the ways out. */
export function Frame({ visit, place, children }: Props) {
  const { facts, step } = useStore(visit, (state) => state);
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => {
    scroller.current?.scrollTo(0, 0);
  }, [place]);
  const progress = step && "progress" in step ? step.progress : undefined;
  return (
    <div className={classes.frame} ref={scroller}>
      <header className={classes.bar}>
        <span className={classes.mark}>
          <Icon name="ear" size={18} />
        </span>
        <span className={classes.title} lang={facts?.language}>
          {facts?.title}
        </span>
        {progress && <Done progress={progress} />}
      </header>
      <Reaching visit={visit} />
      <main className={classes.main} id="main" lang={facts?.language}>
        {children}
      </main>
      <Foot visit={visit} />
    </div>
  );
}

function Done({ progress: { done, of } }: { progress: Progress }) {
  if (of === null) return done ? <span className={classes.count}>{say("progress_open", { done })}</span> : null;
  return (
    <div className={classes.progress}>
      <span className={classes.count}>{say("progress", { done, of })}</span>
      <span className={classes.track} aria-hidden="true">
        <span style={{ inlineSize: `${(100 * Math.min(done, of)) / Math.max(1, of)}%` }} />
      </span>
    </div>
  );
}

function Reaching({ visit }: { visit: Visit }) {
  const reach = useStore(visit.client.reach, (now) => now);
  return (
    <div role="status" aria-live="polite" className={classes.reach}>
      {reach !== "well" && (
        <div className={classes.away}>
          <p>{reach === "busy" ? say("busy") : `${say("away")} ${say("away_more")}`}</p>
          <Button size="compact-sm" variant="light" color="clay" onClick={visit.client.tryNow}>
            {say("try_now")}
          </Button>
        </div>
      )}
    </div>
  );
}
