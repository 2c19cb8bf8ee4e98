import classes from "./Dots.module.css";

/** Three dots that breathe: somebody is writing. Whoever shows them says so in words. */
export function Dots() {
  return (
    <span className={classes.dots} aria-hidden="true">
      <i />
      <i />
      <i />
    </span>
  );
}
