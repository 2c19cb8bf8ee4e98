"""The language-model voices that can be had by name, and which one the person has chosen."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_config_path

from allears.errors import AllearsError
from allears.runtime.gguf_card import ADAPTER_FILE, CARD_FILE, GgufVoiceCard
from allears.runtime.weights import BASES, DEFAULT_BASE, BaseWeights, installed, weights_file

DEFAULT = "default"
BUNDLED = Path(__file__).parents[1] / "bundles" / "voice"  # our adapter


@dataclass(frozen=True, slots=True)
class NamedVoice:
    """A voice by name. `adapter`: the folder of what is laid over its base."""

    name: str
    base: str  # of BASES
    about: str
    adapter: Path | None = None

    @property
    def weights(self) -> BaseWeights:
        return BASES[self.base]


VOICES = {
    each.name: each
    for each in (
        NamedVoice(DEFAULT, DEFAULT_BASE, "Qwen2.5-Coder 1.5B that learned to listen", BUNDLED),
        NamedVoice("qwen-1.5b", "qwen-1.5b", "Qwen2.5-Coder 1.5B as it is"),
        NamedVoice("qwen-0.5b", "qwen-0.5b", "Qwen2.5-Coder 0.5B as it is: small and quick"),
    )
}


def named_voice(name: str) -> NamedVoice:
    try:
        return VOICES[name]
    except KeyError:
        raise AllearsError(
            f"there is no voice {name!r} to be fetched; there are: {', '.join(VOICES)}"
        ) from None


def has_adapter(voice: NamedVoice) -> bool:
    return voice.adapter is not None and (voice.adapter / ADAPTER_FILE).is_file()


def voice_files(name: str) -> tuple[Path, Path | None]:
    """The model's file and its adapter's, of a voice that is here; the adapter must belong to that very file."""
    voice = named_voice(name)
    if not installed(voice.base):
        raise AllearsError(f"the voice {name} is not on this machine; run: allears voice get {name}")
    if voice.adapter is None or not has_adapter(voice):
        return weights_file(voice.base), None
    card = GgufVoiceCard.read(voice.adapter / CARD_FILE)
    if card.base_sha256 != voice.weights.sha256:
        raise AllearsError(
            f"{voice.adapter / ADAPTER_FILE} belongs to {card.base}, not to {voice.weights.file}; export it again with "
            f"--base {voice.base}"
        )
    return weights_file(voice.base), voice.adapter / ADAPTER_FILE


def choice_file() -> Path:
    return user_config_path("allears") / "voice.json"


def chosen_voice() -> str:
    """What `allears voice use` was told last; `default` until then."""
    path = choice_file()
    if not path.is_file():
        return DEFAULT
    try:
        name = json.loads(path.read_text(encoding="utf-8"))["voice"]
        if not isinstance(name, str) or not name:
            raise ValueError("the voice is no name")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AllearsError(f"{path} cannot be read ({error}); run: allears voice use default") from error
    return name


def choose_voice(name: str) -> None:
    path = choice_file()
    temporary = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps({"voice": name}) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise AllearsError(f"{path} cannot be written ({error.strerror or error})") from error
