import { goTo } from "./route";
import { summaries } from "./summaries";
import { Talk } from "./talk";

/** The conversations that were opened in this window. One that is being answered goes on while another is shown. */
const opened = new Map<string, Talk>();
let fresh: Talk | null = null;

export function talkFor(id: string | null): Talk {
  if (id === null) {
    fresh ??= prepared(new Talk(null));
    return fresh;
  }
  let talk = opened.get(id);
  if (!talk) {
    talk = prepared(new Talk(id));
    opened.set(id, talk);
    void talk.load();
  }
  return talk;
}

/** After something was erased, nothing of it stays in this window. */
export function forgetTalk(id: string): void {
  opened.delete(id);
}

export function forgetAllTalks(): void {
  opened.clear();
  fresh = null;
}

/** What is known about the person was changed elsewhere: open conversations must look again. */
export function tellTalks(): void {
  for (const talk of opened.values()) talk.corrected();
}

function prepared(talk: Talk): Talk {
  talk.onChange = () => void summaries.load();
  talk.onBegun = (begun) => {
    opened.set(begun.id!, begun);
    if (fresh === begun) fresh = null;
    goTo({ view: "talk", id: begun.id }, { replace: true });
  };
  return talk;
}
