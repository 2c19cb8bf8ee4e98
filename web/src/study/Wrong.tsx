import { ProblemNote } from "../shared/ProblemNote";
import { useStore } from "../state/store";
import type { Visit } from "./visit";

/** What the server refused, in its own sentence. */
export function Wrong({ visit }: { visit: Visit }) {
  const problem = useStore(visit, (state) => state.problem);
  return problem ? <ProblemNote text={problem} /> : null;
}
