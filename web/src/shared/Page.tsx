import { ActionIcon } from "@mantine/core";
import type { ReactNode } from "react";
import { openSidebar } from "../layout/sidebarState";
import { words } from "../words/words";
import { Icon } from "./Icon";
import classes from "./Page.module.css";

interface Props {
  title: string;
  text: string;
  wide?: boolean;
  children: ReactNode;
}

/** A page beside the conversation: a heading, a sentence, and what it is for. */
export function Page({ title, text, wide = false, children }: Props) {
  return (
    <main className={classes.scroll} id="main">
      <div className={classes.bar}>
        <ActionIcon aria-label={words("nav.open")} onClick={openSidebar}>
          <Icon name="menu" />
        </ActionIcon>
      </div>
      <div className={classes.page} data-wide={wide}>
        <header className={classes.header}>
          <h1>{title}</h1>
          <p>{text}</p>
        </header>
        {children}
      </div>
    </main>
  );
}
