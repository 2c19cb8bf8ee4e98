import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import type { About } from "../api/types";
import { CountrySelect } from "../care/CountrySelect";
import { attempt } from "../state/notices";
import type { Talk } from "../state/talk";
import { words } from "../words/words";
import { sentencesIn } from "./listenerName";
import { PersonaChoice } from "./PersonaChoice";
import { personaProblem } from "./personaProblem";
import { VoiceChoice } from "./VoiceChoice";
import dialog from "../shared/Dialog.module.css";
import classes from "./ListenerDialog.module.css";

interface Props {
  about: About;
  talk: Talk;
  opened: boolean;
  onClose: () => void;
}

/** Which voice answers, as whom, and in which country help would be needed. */
export function ListenerDialog({ opened, onClose, ...form }: Props) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={words("listener.title")}
      size="36rem"
      classNames={{ title: dialog.title, content: dialog.content, header: dialog.header }}
      closeButtonProps={{ "aria-label": words("app.close") }}
    >
      <ListenerForm {...form} onClose={onClose} />
    </Modal>
  );
}

function ListenerForm({ about, talk, onClose }: Omit<Props, "opened">) {
  const now = talk.store.get().conversation ?? talk.choices;
  const [voice, setVoice] = useState(now.voice ?? about.voices.find((each) => each.default)?.name ?? "");
  const [persona, setPersona] = useState((now.listener_persona ?? []).join("\n"));
  const [country, setCountry] = useState(now.country ?? about.country);
  const takesPersona = about.voices.find(({ name }) => name === voice)?.takes_persona ?? true;
  const problem = personaProblem(persona, about.limits);
  const use = async () => {
    const choices = { voice, listener_persona: takesPersona ? sentencesIn(persona) : [], country };
    if (await attempt(() => talk.choose(choices), words("listener.saved"))) onClose();
  };
  return (
    <div className={classes.form}>
      <VoiceChoice voices={about.voices} chosen={voice} onChoose={setVoice} />
      <PersonaChoice
        presets={about.listener_personas}
        text={persona}
        disabled={!takesPersona}
        problem={problem}
        onChange={setPersona}
      />
      <CountrySelect
        label={words("listener.country")}
        description={words("listener.country_more")}
        none={{ value: "", label: words("listener.country_none") }}
        country={country}
        onChange={(chosen) => setCountry(chosen || null)}
      />
      <div className={`${dialog.actions} ${classes.sticky}`}>
        <Button variant="default" onClick={onClose}>
          {words("app.cancel")}
        </Button>
        <Button disabled={takesPersona && problem !== ""} onClick={() => void use()}>
          {words("listener.done")}
        </Button>
      </div>
    </div>
  );
}
