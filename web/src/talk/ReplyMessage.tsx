import { memo, useState } from "react";
import { copyText } from "../shared/copyText";
import { Icon } from "../shared/Icon";
import { attempt, notices } from "../state/notices";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { words } from "../words/words";
import { wishForAnother } from "./anotherAnswer";
import { spokenPart } from "../care/spokenPart";
import classes from "./Message.module.css";

interface Props {
  talk: Talk;
  text: string;
  turn: number;
  isLast: boolean;
  isChosen: boolean;
  onWhy: (turn: number) => void;
}

export const ReplyMessage = memo(function ReplyMessage({ talk, text, turn, isLast, isChosen, onWhy }: Props) {
  const why = useStore(talk.store, (state) => state.whys[turn]);
  const isCrisis = why?.kind === "crisis";
  const copy = () => attempt(() => copyText(text), words("talk.copied"));
  const [looking, setLooking] = useState(false);
  const another = async () => {
    setLooking(true);
    await attempt(async () => {
      const wish = await wishForAnother(talk.id!, text, (await talk.whyOf(turn)) ?? {});
      if (wish) void talk.answerAgain({ seed: wish.seed, strategy: wish.strategy ?? undefined });
      else notices.say(words("talk.no_other"));
    });
    setLooking(false);
  };
  return (
    <li className={classes.reply} id={`turn-${turn}`} data-last={isLast} data-chosen={isChosen}>
      <span className={classes.who}>{words("talk.listener")}</span>
      <p className={classes.words} dir="auto">
        {isCrisis ? spokenPart(text) : text}
      </p>
      <div className={classes.actions}>
        <button
          type="button"
          className={classes.why}
          aria-label={words("talk.why_label", { turn })}
          aria-pressed={isChosen}
          onClick={() => onWhy(turn)}
        >
          <Icon name="why" size={14} />
          {words("talk.why")}
        </button>
        {isLast && !isCrisis && (
          <button type="button" disabled={looking} onClick={() => void another()}>
            <Icon name="again" size={14} />
            {words("talk.another")}
          </button>
        )}
        <button type="button" onClick={() => void copy()}>
          <Icon name="copy" size={14} />
          {words("talk.copy")}
        </button>
      </div>
    </li>
  );
});
