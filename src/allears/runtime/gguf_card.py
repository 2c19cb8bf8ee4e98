"""`voice.json` beside an adapter of ours: which base file it belongs to, and how conversations are laid out for it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from allears.errors import AllearsError
from allears.runtime.talk_layout import LAYOUT

KIND = "voice"  # of a training run that learns such an adapter
ADAPTER_FILE, CARD_FILE = "adapter.gguf", "voice.json"


@dataclass(frozen=True, slots=True)
class GgufVoiceCard:
    """What an adapter is laid over. `layout`: of `talk_layout`, whose text it learned."""

    base: str
    base_sha256: str
    rank: int
    alpha: int
    layout: int = LAYOUT

    def write(self, folder: Path) -> None:
        (folder / CARD_FILE).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> GgufVoiceCard:
        try:
            found = cls(**json.loads(path.read_text(encoding="utf-8")))
            if not (isinstance(found.layout, int) and isinstance(found.base_sha256, str)):
                raise ValueError("a field is of the wrong kind")
        except (OSError, ValueError, TypeError) as error:
            raise AllearsError(
                f"{path}: not the card of an adapter ({error}); export the voice again"
            ) from error
        if found.layout != LAYOUT:
            raise AllearsError(
                f"{path}: the adapter learned layout {found.layout} of conversations, and this version writes layout "
                f"{LAYOUT}; export it with the version that trained it"
            )
        return found


def card_of(adapter: Path) -> GgufVoiceCard | None:
    """The card beside an adapter; None where it is somebody else's."""
    path = adapter.with_name(CARD_FILE)
    return GgufVoiceCard.read(path) if path.is_file() else None
