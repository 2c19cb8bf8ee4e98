import { useCallback, useEffect, useState } from "react";
import { useIsWide } from "../layout/useIsPhone";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { WhyPanel } from "../why/WhyPanel";
import { WhySheet } from "../why/WhySheet";
import { useWhyOpen } from "../why/whyOpen";
import { Composer } from "./Composer";
import { ConsentCard } from "./ConsentCard";
import { Exchange } from "./Exchange";
import { QuietLine } from "./QuietLine";
import { TalkHeader } from "./TalkHeader";
import classes from "./TalkView.module.css";

/** A conversation: what is said in the centre, why it is said at the right. */
export function TalkView({ talk }: { talk: Talk }) {
  const wide = useIsWide();
  const [chosen, setChosen] = useState<number | null>(null); // null: the latest reply
  const [whyOpen, setWhyOpen] = useWhyOpen(wide);
  const phase = useStore(talk.store, (state) => state.phase);
  const turns = useStore(talk.store, (state) => state.conversation?.turns.length ?? 0);
  const replies = turns > 1;
  const turn = chosen !== null && chosen <= turns ? chosen : turns;
  useEffect(() => setChosen(null), [turns]); // a new reply is the one to look at
  const showWhy = useCallback(
    (asked: number) => {
      setChosen(asked);
      setWhyOpen(true);
    },
    [setWhyOpen],
  );
  const panel = { talk, turn, isLast: turn === turns, onChoose: showWhy, onClose: () => setWhyOpen(false) };
  return (
    <>
      <main className={classes.centre} id="main">
        <TalkHeader talk={talk} whyOpen={whyOpen} canAskWhy={replies} onToggleWhy={() => setWhyOpen(!whyOpen)} />
        <Exchange talk={talk} onWhy={showWhy} chosen={whyOpen ? turn : null} />
        {phase !== "missing" && (
          <footer className={classes.foot}>
            <ConsentCard talk={talk} />
            <Composer talk={talk} />
            <QuietLine talk={talk} />
          </footer>
        )}
      </main>
      {wide && whyOpen && replies && <WhyPanel {...panel} />}
      {!wide && <WhySheet {...panel} opened={whyOpen && replies} />}
    </>
  );
}
