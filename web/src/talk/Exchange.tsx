import { Button, Skeleton, VisuallyHidden } from "@mantine/core";
import { CrisisCard } from "../care/CrisisCard";
import { EmptyState } from "../shared/EmptyState";
import { Icon } from "../shared/Icon";
import { ProblemNote } from "../shared/ProblemNote";
import { goTo } from "../state/route";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { words } from "../words/words";
import { Announcer } from "./Announcer";
import { MessageList } from "./MessageList";
import { PendingExchange } from "./PendingExchange";
import { useStickToEnd } from "./useStickToEnd";
import { Welcome } from "./Welcome";
import classes from "./Exchange.module.css";

interface Props {
  talk: Talk;
  chosen: number | null;
  onWhy: (turn: number) => void;
}

/** What was said and what is being said; scrolls, and stays at the end while somebody reads there. */
export function Exchange({ talk, chosen, onWhy }: Props) {
  const phase = useStore(talk.store, (state) => state.phase);
  const problem = useStore(talk.store, (state) => state.problem);
  const turns = useStore(talk.store, (state) => state.conversation?.turns);
  const isTalking = useStore(talk.store, (state) => state.pending !== null);
  const isCalm = useStore(talk.store, (state) => (state.conversation?.safety.phase ?? "calm") === "calm");
  const { scroller, content, atEnd, toEnd } = useStickToEnd();
  const isEmpty = !isTalking && !turns?.length && (phase === "new" || phase === "ready");
  return (
    <div className={classes.frame}>
      <div className={classes.scroller} ref={scroller} tabIndex={0} role="region" aria-label={words("talk.log")}>
        <div className={classes.content} ref={content}>
          {phase === "loading" && <Loading />}
          {phase === "failed" && <ProblemNote text={problem} onRetry={() => void talk.load()} />}
          {phase === "missing" && <Missing />}
          {isEmpty && <Welcome onStart={(text) => void talk.say(text)} />}
          {turns && <MessageList talk={talk} turns={turns} chosen={chosen} onWhy={onWhy} />}
          <PendingExchange talk={talk} />
          <CrisisCard talk={talk} />
          {phase === "ready" && problem && <ProblemNote text={problem} />}
          <Announcer talk={talk} />
        </div>
      </div>
      {!atEnd && isCalm && (
        <Button
          className={classes.newest}
          size="compact-sm"
          radius="xl"
          variant="default"
          leftSection={<Icon name="down" size={14} />}
          onClick={toEnd}
        >
          {words("talk.newest")}
        </Button>
      )}
    </div>
  );
}

function Loading() {
  return (
    <div className={classes.loading} role="status">
      <VisuallyHidden>{words("talk.loading")}</VisuallyHidden>
      <Skeleton height={44} width="55%" radius="lg" ml="auto" />
      <Skeleton height={20} width="80%" />
      <Skeleton height={20} width="62%" />
      <Skeleton height={44} width="40%" radius="lg" ml="auto" />
      <Skeleton height={20} width="70%" />
    </div>
  );
}

function Missing() {
  return (
    <EmptyState icon="search" title={words("talk.missing")} text={words("talk.missing_more")}>
      <Button variant="light" onClick={() => goTo({ view: "talk", id: null })}>
        {words("nav.new")}
      </Button>
    </EmptyState>
  );
}
