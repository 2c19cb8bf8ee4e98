/** How somebody came here, by the address they opened. */
export type Entry =
  | { by: "link"; token: string }
  | { by: "open"; open: string; prolific?: string; mturk?: string }
  | { by: "preview" }
  | { by: "nothing" };

const NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"; // what MTurk says while somebody only looks

export function entryOf(search: string, hash: string): Entry {
  const asked = new URLSearchParams(search);
  const secret = new URLSearchParams(hash.replace(/^#/, ""));
  if (asked.get("assignmentId") === NOT_ACCEPTED) return { by: "preview" };
  const token = secret.get("link");
  if (token) return { by: "link", token };
  const open = secret.get("open");
  if (!open) return { by: "nothing" };
  const entry: Entry = { by: "open", open };
  const prolific = asked.get("PROLIFIC_PID");
  const mturk = asked.get("workerId");
  if (prolific) entry.prolific = prolific;
  else if (mturk) entry.mturk = mturk;
  return entry;
}

/** Whether this person is known by a name of their platform, so that the server finds them again. */
export function isNamed(entry: Entry): boolean {
  return entry.by === "open" && Boolean(entry.prolific ?? entry.mturk);
}
