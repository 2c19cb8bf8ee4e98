import type { ReactNode } from "react";
import { Icon, type IconName } from "./Icon";
import classes from "./EmptyState.module.css";

interface Props {
  icon: IconName;
  title: string;
  text?: string;
  children?: ReactNode;
}

/** Nothing is here, and that is all right. */
export function EmptyState({ icon, title, text, children }: Props) {
  return (
    <div className={classes.state}>
      <span className={classes.icon}>
        <Icon name={icon} size={22} />
      </span>
      <p className={classes.title}>{title}</p>
      {text && <p className={classes.text}>{text}</p>}
      {children}
    </div>
  );
}
