import { useEffect, useRef } from "react";
import classes from "./Study.module.css";

/** A page's heading. It takes the focus when the page appears, so that reading and Tab begin at its top. */
export function Heading({ text, small = false }: { text: string; small?: boolean }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1} className={classes.heading} data-small={small}>
      {text}
    </h1>
  );
}
