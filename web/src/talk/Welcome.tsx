import { words, type Key } from "../words/words";
import classes from "./Welcome.module.css";

const STARTERS: Key[] = ["talk.starter_1", "talk.starter_2", "talk.starter_3"];

export function Welcome({ onStart }: { onStart: (text: string) => void }) {
  return (
    <div className={classes.welcome}>
      <h2>{words("talk.hello")}</h2>
      <p>{words("talk.hello_more")}</p>
      <ul className={classes.starters} aria-label={words("talk.starters")}>
        {STARTERS.map((key) => (
          <li key={key}>
            <button type="button" onClick={() => onStart(words(key))}>
              {words(key)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
