import { Skeleton, VisuallyHidden } from "@mantine/core";
import type { Why } from "../api/types";
import { ProblemNote } from "../shared/ProblemNote";
import { useStore } from "../state/store";
import { words } from "../words/words";
import { BeliefsSection } from "./BeliefsSection";
import { CandidatesSection } from "./CandidatesSection";
import { FeelingSection } from "./FeelingSection";
import { ScreeningSection } from "./ScreeningSection";
import { StrategySection } from "./StrategySection";
import { TimeSection } from "./TimeSection";
import { useWhy } from "./useWhy";
import { WhyNotes } from "./WhyNotes";
import type { WhyProps } from "./WhyPanel";
import { WordsSection } from "./WordsSection";
import classes from "./WhyContent.module.css";

export function WhyContent(props: WhyProps) {
  const { talk, turn, isLast, onChoose } = props;
  const text = useStore(talk.store, (state) => state.conversation?.turns[turn - 1]?.text ?? "");
  const { why, problem, retry } = useWhy(talk, turn);
  return (
    <div className={classes.content}>
      <blockquote className={classes.answer} dir="auto">
        {text}
      </blockquote>
      {!isLast && <LatestLink talk={talk} onChoose={onChoose} />}
      {problem && <ProblemNote text={problem} onRetry={retry} />}
      {!why && !problem && <Loading />}
      {why && <Sections {...props} why={why} />}
    </div>
  );
}

function Sections({ talk, turn, isLast, why, onChoose }: WhyProps & { why: Why }) {
  const isReply = (why.kind ?? "reply") === "reply";
  return (
    <>
      <WhyNotes why={why} />
      {isReply && (
        <>
          <FeelingSection talk={talk} why={why} turn={turn} onChoose={onChoose} />
          <StrategySection talk={talk} why={why} isLast={isLast} />
        </>
      )}
      <BeliefsSection talk={talk} why={why} />
      {isReply && (
        <>
          <WordsSection talk={talk} turn={turn} />
          <CandidatesSection why={why} />
        </>
      )}
      <TimeSection why={why} />
      <ScreeningSection why={why} />
    </>
  );
}

function LatestLink({ talk, onChoose }: Pick<WhyProps, "talk" | "onChoose">) {
  const latest = () => onChoose(talk.store.get().conversation?.turns.length ?? 0);
  return (
    <button type="button" className={classes.latest} onClick={latest}>
      {words("why.latest")}
    </button>
  );
}

function Loading() {
  return (
    <div role="status">
      <VisuallyHidden>{words("why.loading")}</VisuallyHidden>
      <Skeleton height={120} radius="md" mb="md" />
      <Skeleton height={80} radius="md" mb="md" />
      <Skeleton height={80} radius="md" />
    </div>
  );
}
