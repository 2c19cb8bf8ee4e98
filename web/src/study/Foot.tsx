import { useState } from "react";
import { ConfirmDialog } from "../shared/ConfirmDialog";
import { useStore } from "../state/store";
import { HelpDialog } from "./HelpDialog";
import type { Visit } from "./visit";
import { say } from "./words";
import classes from "./Frame.module.css";

const KEEPS = ["instructions", "unit", "describe"]; // where one may go and come back

/** On every page: whom to ask, whom to call, and the way out with everything deleted. */
export function Foot({ visit }: { visit: Visit }) {
  const { facts, step } = useStore(visit, (state) => state);
  const [asking, setAsking] = useState(false);
  const [helping, setHelping] = useState(false);
  const stage = step?.stage;
  return (
    <footer className={classes.foot} aria-label={say("footer")}>
      {stage && KEEPS.includes(stage) && <p>{say("resume")}</p>}
      <div className={classes.links}>
        {facts?.contact && <span>{say("contact", { contact: facts.contact })}</span>}
        <button type="button" onClick={() => setHelping(true)}>
          {say("help")}
        </button>
        {stage && stage !== "withdrawn" && (
          <button type="button" onClick={() => setAsking(true)}>
            {say("withdraw")}
          </button>
        )}
      </div>
      <ConfirmDialog
        opened={asking}
        title={say("withdraw_title")}
        text={say("withdraw_text")}
        confirm={say("withdraw_confirm")}
        keep={say("withdraw_keep")}
        onConfirm={visit.withdraw}
        onClose={() => setAsking(false)}
      />
      <HelpDialog opened={helping} client={visit.client} onClose={() => setHelping(false)} />
    </footer>
  );
}
