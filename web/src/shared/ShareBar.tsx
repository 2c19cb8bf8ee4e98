import classes from "./ShareBar.module.css";

/** A share of one, as a bar. The number stands beside it in words, so the bar itself is silent. */
export function ShareBar({ share, tone = "plain" }: { share: number; tone?: "plain" | "strong" }) {
  return (
    <span className={classes.bar} aria-hidden="true">
      <span className={classes.share} data-tone={tone} style={{ inlineSize: `${100 * clamp(share)}%` }} />
    </span>
  );
}

const clamp = (value: number) => Math.min(1, Math.max(0.015, value));
