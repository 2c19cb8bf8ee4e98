"""The voices that a server answers with. In a file of its own: Ray's replicas load them by this name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from allears.progress import Watch, unwatched
from allears.serve.voices import ServedVoice

if TYPE_CHECKING:
    from allears.listener.listener import Listener


def shipped_voices(
    bundle: str = "default",
    pools: Sequence[str] = (),
    country: str | None = None,
    voices: Sequence[str] = (),
    *,
    watch: Watch = unwatched,
) -> list[ServedVoice]:
    """Listeners with these voices, which share all but their words: the first is the default.

    Where none is named it is the bundle's own; and if that one writes, also the one that only chooses, which costs
    nothing more.
    """
    from allears.listener.listener import Listener
    from allears.listener.voices import DEFAULT, RETRIEVAL, open_voice

    first, *others = voices or (DEFAULT,)
    listener = Listener.from_bundle(bundle, pools=pools, country=country, watch=watch, voice=first)
    if not voices and listener.voice != RETRIEVAL:
        others = [RETRIEVAL]
    opened = [_described(first, listener)]
    for name in others:
        other = open_voice(name, bundle, selector=listener.selector)
        opened.append(_described(name, listener.with_voice(other)))
    return opened


def _described(name: str, listener: Listener) -> ServedVoice:
    """A voice with what `listener.voices` tells about it; a run's folder goes by its own name."""
    from allears.listener.voices import DESCRIPTIONS, REMOTE, TITLES, VOICES

    if name not in VOICES:
        called = Path(name).resolve().name
        return ServedVoice(
            called, listener, called, f"Writes its replies with the generator in the folder {called}."
        )
    own = listener.voice  # of a bundle without a voice, "default" is "retrieval"
    return ServedVoice(name, listener, TITLES[own], DESCRIPTIONS[own], leaves_machine=own == REMOTE)
