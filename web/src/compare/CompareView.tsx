import { Skeleton } from "@mantine/core";
import { Page } from "../shared/Page";
import { ProblemNote } from "../shared/ProblemNote";
import { session } from "../state/session";
import { useStore } from "../state/store";
import { words } from "../words/words";
import { VoiceComparison } from "./VoiceComparison";

/** For those who study models: the same message, up to four voices, side by side. */
export function CompareView() {
  const about = useStore(session, (now) => now.about);
  const problem = useStore(session, (now) => now.problem);
  return (
    <Page title={words("compare.title")} text={words("compare.text")} wide>
      {problem && <ProblemNote text={problem} onRetry={() => void session.load()} />}
      {!about && !problem && <Skeleton height={260} radius="lg" />}
      {about && <VoiceComparison about={about} />}
    </Page>
  );
}
