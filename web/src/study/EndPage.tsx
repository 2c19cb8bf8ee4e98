import { Button } from "@mantine/core";
import { copyText } from "../shared/copyText";
import { Icon } from "../shared/Icon";
import { notices } from "../state/notices";
import { Heading } from "./Heading";
import { Paragraphs } from "./Paragraphs";
import type { Ended, Ending } from "./types";
import type { Visit } from "./visit";
import { say } from "./words";
import classes from "./Study.module.css";

/** The end, whichever: done, ended early, not begun, withdrawn. */
export function EndPage({ visit, stage, done }: { visit: Visit; stage: Ended; done: Ending }) {
  const copy = async () => {
    await copyText(done.code!);
    notices.say(say("copied"));
  };
  return (
    <article className={`${classes.page} ${classes.end}`}>
      <span className={classes.endMark}>
        <Icon name={stage === "done" ? "heart" : "ear"} size={24} />
      </span>
      <Heading text={say(stage === "done" ? "done" : "ended")} />
      <div className={classes.prose}>
        <Paragraphs text={done.text} />
      </div>
      {done.code && (
        <div className={classes.code}>
          <span>{say("code")}</span>
          <code>{done.code}</code>
          <Button variant="light" leftSection={<Icon name="copy" size={16} />} onClick={() => void copy()}>
            {say("copy")}
          </Button>
          <span className={classes.quiet}>{say("code_more")}</span>
        </div>
      )}
      {done.return_url && (
        <Button component="a" size="md" href={done.return_url} rel="noreferrer">
          {say("back")}
        </Button>
      )}
      {stage === "declined" && !done.return_url && (
        <Button variant="default" onClick={() => void visit.consent(true)}>
          {say("changed_mind")}
        </Button>
      )}
    </article>
  );
}
