import { Skeleton } from "@mantine/core";
import { useEffect } from "react";
import { Notices } from "../shared/Notices";
import { useStore } from "../state/store";
import { ConsentPage } from "./ConsentPage";
import { DescribePage } from "./DescribePage";
import { EndPage } from "./EndPage";
import { entryOf } from "./entry";
import { Frame } from "./Frame";
import { InstructionsPage } from "./InstructionsPage";
import { OutsidePage } from "./OutsidePage";
import { PairPage } from "./PairPage";
import type { Step } from "./types";
import { UnitPage } from "./UnitPage";
import { Visit } from "./visit";
import { say } from "./words";
import classes from "./Study.module.css";

const visit = new Visit();
const entry = entryOf(window.location.search, window.location.hash);
// whoever looks over a shoulder, or gets a copied address, does not get in
window.history.replaceState(null, "", window.location.pathname + window.location.search);
window.addEventListener("hashchange", () => window.location.reload()); // another link was opened in this tab
void visit.start(entry);

/** The study's pages. What is shown is what the server says comes next. */
export default function StudyApp() {
  const { facts, phase, step } = useStore(visit, (state) => state);
  useEffect(() => {
    if (facts) document.title = facts.title;
  }, [facts]);
  return (
    <>
      <Notices />
      <Frame visit={visit} place={step ? placeOf(step) : phase}>
        {phase === "loading" && <Loading />}
        {(phase === "preview" || phase === "outside") && <OutsidePage visit={visit} facts={facts} />}
        {phase === "inside" && step && <Page step={step} />}
      </Frame>
    </>
  );
}

/** Another place is another page: it begins at its top. */
function placeOf(step: Step): string {
  return step.stage === "unit" ? `unit ${step.unit.key}` : step.stage;
}

function Page({ step }: { step: Step }) {
  switch (step.stage) {
    case "consent":
      return <ConsentPage visit={visit} consent={step.consent} />;
    case "instructions":
      return <InstructionsPage visit={visit} instructions={step.instructions} />;
    case "unit":
      return <UnitPage key={step.unit.key} visit={visit} unit={step.unit} progress={step.progress} />;
    case "describe":
      return <DescribePage visit={visit} describe={step.describe} />;
    case "pair":
      return <PairPage visit={visit} pair={step.pair} />;
    default:
      return <EndPage visit={visit} stage={step.stage} done={step.done} />;
  }
}

function Loading() {
  return (
    <div className={classes.loading} role="status" aria-label={say("loading")}>
      <Skeleton height={34} width="60%" radius="md" />
      <Skeleton height={220} radius="lg" />
    </div>
  );
}
