import { Button, PasswordInput, Switch } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { readAbout } from "../api/person";
import { Refused, Unreachable } from "../api/problems";
import { forgetToken, keepToken, readToken } from "../api/token";
import { Icon } from "../shared/Icon";
import { connection } from "../state/connection";
import { forgetAllTalks } from "../state/talks";
import { words } from "../words/words";
import classes from "./Door.module.css";

/** Asks for the access token, the first time and when it is valid no more. What was written stays where it is. */
export function Door() {
  const [before] = useState(readToken);
  const [token, setToken] = useState("");
  const [keep, setKeep] = useState(false);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const enter = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    keepToken(token.trim(), keep);
    try {
      await readAbout();
      if (before !== null && before !== token.trim()) forgetAllTalks(); // another token is another person
      connection.unlocked();
    } catch (error) {
      forgetToken();
      if (error instanceof Refused) setProblem(error.status === 401 ? words("door.wrong") : error.message);
      else if (error instanceof Unreachable) setProblem(error.message);
      else throw error;
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className={classes.door}>
      <form className={classes.card} onSubmit={(event) => void enter(event)}>
        <span className={classes.mark}>
          <Icon name="ear" size={24} />
        </span>
        <h1>{words("door.title")}</h1>
        <p>{words(before ? "door.expired" : "door.text")}</p>
        <PasswordInput
          label={words("door.label")}
          value={token}
          error={problem || undefined}
          autoComplete="off"
          maxLength={500}
          onChange={(event) => setToken(event.currentTarget.value)}
          data-autofocus
          autoFocus
        />
        <Switch
          label={words("door.keep")}
          description={words("door.keep_more")}
          checked={keep}
          onChange={(event) => setKeep(event.currentTarget.checked)}
        />
        <Button type="submit" loading={busy} disabled={!token.trim()}>
          {words("door.enter")}
        </Button>
      </form>
    </main>
  );
}
