import { Skeleton } from "@mantine/core";
import type { About } from "../api/types";
import { Page } from "../shared/Page";
import { ProblemNote } from "../shared/ProblemNote";
import { session } from "../state/session";
import { useStore } from "../state/store";
import { words } from "../words/words";
import { CaseStudy } from "./CaseStudy";

/** PEC's case study: the same message, three personas, three answers side by side. */
export function ListenersView() {
  const about = useStore(session, (now) => now.about);
  const problem = useStore(session, (now) => now.problem);
  return (
    <Page title={words("listeners.title")} text={words("listeners.text")} wide>
      {problem && <ProblemNote text={problem} onRetry={() => void session.load()} />}
      {!about && !problem && <Skeleton height={260} radius="lg" />}
      {about && <CaseStudy about={about as About} />}
    </Page>
  );
}
