import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { ConfirmDialog } from "../shared/ConfirmDialog";
import { wordsFor } from "../words/words";
import { CareCard } from "./CareCard";
import { Heading } from "./Heading";
import { forgetDraft, keepDraft, readDraft } from "./kept";
import { LineBox } from "./LineBox";
import { Lines } from "./Lines";
import { Paragraphs } from "./Paragraphs";
import type { Pair, Talking } from "./types";
import type { Visit } from "./visit";
import { Wrong } from "./Wrong";
import { say } from "./words";
import blocks from "./blocks/Blocks.module.css";
import classes from "./Study.module.css";

interface Props {
  visit: Visit;
  pair: Talking;
  onPair: (pair: Pair) => void;
}

const DRAFT = "pair";

/** One of the two conversations: as the speaker, with one's own situation in view, or as the listener. */
export function TalkPage({ visit, pair, onPair }: Props) {
  const [text, setText] = useState(() => String(readDraft(DRAFT).answers.line ?? ""));
  const [sending, setSending] = useState("");
  const [leaving, setLeaving] = useState(false);
  const [care, setCare] = useState(pair.care);
  useEffect(() => {
    if (pair.care) setCare(pair.care); // it stays when the partner answers
  }, [pair.care]);
  const speaks = pair.role === "speaker";
  useEffect(() => {
    const before = document.title;
    if (pair.your_turn) document.title = `● ${before}`; // for those who look at another tab meanwhile
    return () => {
      document.title = before;
    };
  }, [pair.your_turn]);
  const tell = async (line: string) => {
    setSending(line);
    const came = await visit.sayToPartner(line, pair.turns.length);
    setSending("");
    if (!came) return;
    setText("");
    forgetDraft();
    onPair(came);
    if (came.state === "over") void visit.next();
  };
  const write = (line: string) => {
    setText(line);
    keepDraft({ key: DRAFT, shown: 0, answers: { line } });
  };
  const finish = async () => {
    const came = await visit.finishTalk(pair.talk);
    if (!came) return;
    onPair(came);
    if (came.state === "over") void visit.next();
  };
  const turn = pair.partner_away ? "partner_away" : pair.your_turn ? "your_turn" : "their_turn";
  return (
    <article className={classes.page}>
      <p className={classes.kicker}>{say("talk_of", { talk: pair.talk, of: pair.of })}</p>
      <Heading text={say(speaks ? "you_speak" : "you_listen")} />
      <p className={classes.lead}>{say(speaks ? "you_speak_more" : "you_listen_more")}</p>
      {pair.situation && (
        <div className={blocks.situation}>
          {pair.emotion && <strong>{say("you_felt", { emotion: wordsFor("emotion", pair.emotion) })}</strong>}
          <Paragraphs text={pair.situation} />
        </div>
      )}
      <div className={blocks.chat}>
        <Lines lines={pair.turns} sending={sending} other={say("other")} typing={false} empty={say(speaks ? "nothing_yet" : "their_turn")} />
        {care && <CareCard care={care} client={visit.client} />}
        <p className={classes.turn} role="status" data-turn={pair.your_turn}>
          {say(turn)}
        </p>
        <LineBox
          label={say("line")}
          send={say("send_line")}
          text={sending ? "" : text}
          onChange={write}
          onSend={(line) => void tell(line)}
          disabled={false}
          sending={Boolean(sending)}
          waiting={!pair.your_turn}
        />
      </div>
      <Wrong visit={visit} />
      <div className={classes.submit}>
        <p>{say("pair_lines", { n: pair.turns.length, least: pair.least, most: pair.most })}</p>
        <Button variant="subtle" color="gray" onClick={() => setLeaving(true)}>
          {say("leave")}
        </Button>
        <Button disabled={!pair.may_finish} onClick={() => void finish()}>
          {say("finish")}
        </Button>
      </div>
      <ConfirmDialog
        opened={leaving}
        title={say("leave_title")}
        text={say("leave_text")}
        confirm={say("leave")}
        keep={say("stay")}
        onConfirm={visit.leavePair}
        onClose={() => setLeaving(false)}
      />
    </article>
  );
}
