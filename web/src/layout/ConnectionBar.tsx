import { Button } from "@mantine/core";
import { connection } from "../state/connection";
import { useStore } from "../state/store";
import { words } from "../words/words";
import classes from "./ConnectionBar.module.css";

/** The server is away. Nothing is lost, and that is what this says. */
export function ConnectionBar() {
  const reach = useStore(connection, (now) => now);
  return (
    <div role="status" aria-live="polite">
      {reach === "offline" && (
        <div className={classes.bar}>
          <p>
            <strong>{words("connection.away")}</strong> {words("connection.away_more")}
          </p>
          <Button size="compact-sm" variant="light" color="clay" onClick={() => void connection.tryNow()}>
            {words("connection.try")}
          </Button>
        </div>
      )}
    </div>
  );
}
