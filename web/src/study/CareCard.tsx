import { words } from "../words/words";
import type { StudyClient } from "./client";
import { People } from "./People";
import type { Care } from "./types";
import classes from "./Study.module.css";

/** What somebody wrote sounds like danger: people come before the study. Only they see this. */
export function CareCard({ care, client }: { care: Care; client: StudyClient }) {
  return (
    <section className={classes.care} aria-label={words("care.region")}>
      <p role="alert">{care.text}</p>
      <People help={care.help} client={client} />
    </section>
  );
}
