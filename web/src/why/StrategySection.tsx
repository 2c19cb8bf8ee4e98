import { session } from "../state/session";
import type { Why } from "../api/types";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { ShareBar } from "../shared/ShareBar";
import { percent, words } from "../words/words";
import { Section } from "./Section";
import classes from "./StrategySection.module.css";

interface Props {
  talk: Talk;
  why: Why;
  isLast: boolean;
}

/** What the answer tries to do, what else it could try, and a way to ask for that. */
export function StrategySection({ talk, why, isLast }: Props) {
  const about = useStore(session, (now) => now.about);
  const voice = useStore(talk.store, (state) => state.conversation?.voice);
  const busy = useStore(talk.store, (state) => state.pending !== null);
  const takesWishes = about?.voices.find(({ name }) => name === voice)?.takes_strategy ?? false;
  const info = (name: string) =>
    about?.strategies.find((strategy) => strategy.name === name) ?? { name, title: name, description: "" };
  const said = info(why.strategy ?? "");
  const others = (why.strategies ?? []).filter(([name]) => name !== said.name);
  const hint = !takesWishes ? "strategy.not_taken" : "strategy.only_last";
  return (
    <Section name="strategy" title={words("strategy.title")}>
      <p className={classes.said}>
        <strong>{said.title}.</strong> {said.description}
      </p>
      <h4 className={classes.heading}>{words("strategy.others")}</h4>
      <ul className={classes.others}>
        {others.map(([name, share]) => {
          const { title, description } = info(name);
          return (
            <li key={name}>
              <span className={classes.name} title={description}>
                {title}
              </span>
              <span className={classes.share} title={words("strategy.share", { share: percent(share) })}>
                {percent(share)}
              </span>
              <button
                type="button"
                disabled={!isLast || !takesWishes || busy}
                aria-label={words("strategy.ask_label", { title })}
                onClick={() => void talk.answerAgain({ strategy: name })}
              >
                {words("strategy.ask")}
              </button>
              <ShareBar share={share} />
            </li>
          );
        })}
      </ul>
      {(!isLast || !takesWishes) && <p className={classes.hint}>{words(hint)}</p>}
    </Section>
  );
}
