import { CloseButton, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";
import { Icon } from "../shared/Icon";
import { summaries } from "../state/summaries";
import { words } from "../words/words";

const LONGEST = 200;

export function SearchBox() {
  const [search, setSearch] = useState(summaries.get().search);
  const look = useDebouncedCallback((text: string) => void summaries.look(text), 200);
  const change = (text: string) => {
    setSearch(text);
    look(text);
  };
  return (
    <TextInput
      id="search"
      type="search"
      aria-label={words("list.search_label")}
      placeholder={words("list.search")}
      value={search}
      maxLength={LONGEST}
      leftSection={<Icon name="search" size={16} />}
      rightSection={
        search && <CloseButton size="sm" aria-label={words("list.search_clear")} onClick={() => change("")} />
      }
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
