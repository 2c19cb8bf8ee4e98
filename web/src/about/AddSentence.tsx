import { Button } from "@mantine/core";
import { useState } from "react";
import { Icon } from "../shared/Icon";
import { InlineEditor } from "../shared/InlineEditor";
import { session } from "../state/session";
import { useStore } from "../state/store";
import { words } from "../words/words";

export function AddSentence({ onAdd }: { onAdd: (text: string) => Promise<boolean> }) {
  const [adding, setAdding] = useState(false);
  const longest = useStore(session, ({ about }) => about?.limits.persona_sentence ?? 500);
  const add = async (text: string) => {
    if (await onAdd(text)) setAdding(false);
  };
  if (adding)
    return (
      <InlineEditor
        label={words("beliefs.add_label")}
        value=""
        placeholder={words("beliefs.add_placeholder")}
        longest={longest}
        onSave={add}
        onCancel={() => setAdding(false)}
      />
    );
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      leftSection={<Icon name="plus" size={14} />}
      onClick={() => setAdding(true)}
    >
      {words("beliefs.add")}
    </Button>
  );
}
