import type { About } from "../api/types";
import { session } from "../state/session";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { words } from "../words/words";
import classes from "./QuietLine.module.css";

/** What this is and is not. Always there, never loud. */
export function QuietLine({ talk }: { talk: Talk }) {
  const about = useStore(session, (now) => now.about);
  const voice = useStore(talk.store, (state) => state.conversation?.voice ?? talk.choices.voice);
  return (
    <p className={classes.line}>
      {words("quiet.what")} {about && whereWordsGo(about, voice)} <a href="#/help">{words("quiet.help")}</a>
    </p>
  );
}

export function whereWordsGo(about: About, voice: string | null | undefined): string {
  const speaking = about.voices.find(({ name }) => name === voice) ?? about.voices.find((each) => each.default);
  if (speaking?.leaves_machine) return words("quiet.voice");
  return about.local ? words("quiet.local") : words("quiet.remote", { host: window.location.host });
}
