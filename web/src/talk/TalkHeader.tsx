import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { useState } from "react";
import { openSidebar } from "../layout/sidebarState";
import { titleOf } from "../layout/grouping";
import { useIsPhone } from "../layout/useIsPhone";
import { Icon } from "../shared/Icon";
import { session } from "../state/session";
import { useStore } from "../state/store";
import type { Talk } from "../state/talk";
import { words } from "../words/words";
import { ListenerDialog } from "./ListenerDialog";
import { listenerName } from "./listenerName";
import classes from "./TalkHeader.module.css";

interface Props {
  talk: Talk;
  whyOpen: boolean;
  canAskWhy: boolean;
  onToggleWhy: () => void;
}

export function TalkHeader({ talk, whyOpen, canAskWhy, onToggleWhy }: Props) {
  const phone = useIsPhone();
  const about = useStore(session, (now) => now.about);
  const conversation = useStore(talk.store, (state) => state.conversation);
  useStore(talk.store, (state) => state.revision); // choices of a conversation that has not begun
  const [choosing, setChoosing] = useState(false);
  const first = conversation?.turns[0]?.text;
  const title = conversation && first ? titleOf({ title: conversation.title, first_words: first }) : "";
  const who = about ? listenerName(about, conversation ?? talk.choices) : "";
  return (
    <header className={classes.header}>
      {phone && (
        <ActionIcon aria-label={words("nav.open")} onClick={openSidebar}>
          <Icon name="menu" />
        </ActionIcon>
      )}
      <h1 className={classes.title} dir="auto">
        {title || words("talk.title_new")}
      </h1>
      {about && (
        <Tooltip label={words("listener.title")}>
          <Button
            className={classes.listener}
            variant="subtle"
            color="gray"
            size="compact-md"
            aria-label={words("listener.open", { who })}
            leftSection={<Icon name="ear" size={16} />}
            onClick={() => setChoosing(true)}
          >
            <span className={classes.who}>{who}</span>
          </Button>
        </Tooltip>
      )}
      {canAskWhy && (
        <Button
          className={classes.why}
          variant={whyOpen ? "light" : "subtle"}
          color={whyOpen ? "sage" : "gray"}
          size="compact-md"
          leftSection={<Icon name="why" size={16} />}
          aria-expanded={whyOpen}
          aria-label={words(whyOpen ? "why.close" : "why.open")}
          onClick={onToggleWhy}
        >
          {words("why.title")}
        </Button>
      )}
      {about && (
        <ListenerDialog about={about} talk={talk} opened={choosing} onClose={() => setChoosing(false)} />
      )}
    </header>
  );
}
