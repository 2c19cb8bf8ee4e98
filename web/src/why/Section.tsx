import { useId, useState, type ReactNode } from "react";
import { Icon } from "../shared/Icon";
import classes from "./Section.module.css";

const PREFIX = "allears.fold.";

interface Props {
  name: string;
  title: string;
  /** Whether it is open before anybody has folded or opened it. */
  open?: boolean;
  children: ReactNode;
}

/** A part of the reasons that can be folded; how it was left is remembered. */
export function Section({ name, title, open: first = true, children }: Props) {
  const [open, setOpen] = useState(() => (localStorage.getItem(PREFIX + name) ?? String(first)) === "true");
  const id = useId();
  const toggle = () => {
    localStorage.setItem(PREFIX + name, String(!open));
    setOpen(!open);
  };
  return (
    <section className={classes.section} aria-labelledby={`${id}-title`}>
      <h3 className={classes.title} id={`${id}-title`}>
        <button type="button" aria-expanded={open} aria-controls={`${id}-body`} onClick={toggle}>
          {title}
          <span className={classes.fold} data-open={open}>
            <Icon name="fold" size={15} />
          </span>
        </button>
      </h3>
      <div id={`${id}-body`} hidden={!open} className={classes.body}>
        {open && children}
      </div>
    </section>
  );
}
