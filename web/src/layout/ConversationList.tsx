import { Skeleton } from "@mantine/core";
import { ProblemNote } from "../shared/ProblemNote";
import { useRoute } from "../state/route";
import { useStore } from "../state/store";
import { summaries } from "../state/summaries";
import { words } from "../words/words";
import { ConversationItem } from "./ConversationItem";
import { groupedByDay } from "./grouping";
import classes from "./ConversationList.module.css";

export function ConversationList() {
  const { phase, problem, search, found } = useStore(summaries, (all) => all);
  const route = useRoute();
  const open = route.view === "talk" ? route.id : null;
  return (
    <div className={classes.list} aria-busy={phase === "loading"}>
      {phase === "loading" && <Loading />}
      {phase === "failed" && <ProblemNote text={problem} onRetry={() => void summaries.load()} />}
      {phase === "ready" && found.length === 0 && (
        <p className={classes.empty}>
          {search.trim() ? words("list.none", { search: search.trim() }) : words("list.empty_more")}
        </p>
      )}
      {search.trim() && found.length > 0 && (
        <p className={classes.count} role="status">
          {words("list.found", { n: found.length })}
        </p>
      )}
      {groupedByDay(found, new Date()).map((group) => (
        <section key={group.key} aria-label={words(group.key)}>
          <h2 className={classes.day}>{words(group.key)}</h2>
          <ul className={classes.items}>
            {group.items.map((summary) => (
              <ConversationItem key={summary.id} summary={summary} open={summary.id === open} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function Loading() {
  return (
    <div className={classes.loading} aria-label={words("list.loading")} role="status">
      {[0, 1, 2].map((line) => (
        <Skeleton key={line} height={34} radius="md" />
      ))}
    </div>
  );
}
