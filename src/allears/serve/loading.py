"""The voices that a server answers with. In a file of its own: Ray's replicas load them by this name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from allears.progress import Watch, unwatched
from allears.serve.voices import ServedVoice

if TYPE_CHECKING:
    from allears.listener.listener import Listener

THIS_MACHINE = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


def shipped_voices(
    bundle: str = "default",
    pools: Sequence[str] = (),
    country: str | None = None,
    voices: Sequence[str] = (),
    *,
    watch: Watch = unwatched,
) -> list[ServedVoice]:
    """Listeners with these voices, which share all but their words: the first is the default.

    Where none is named it is `default`; and if that one writes, also the one that only chooses, which costs nothing
    more.
    """
    from allears.listener.listener import Listener
    from allears.listener.voices import CHOSEN, DEFAULT, open_voice

    first, *others = voices or (DEFAULT,)
    listener = Listener.from_bundle(bundle, pools=pools, country=country, watch=watch, voice=first)
    if not voices and listener.voice != CHOSEN:
        others = [CHOSEN]
    opened = [_described(first, listener)]
    for name in others:
        opened.append(_described(name, listener.with_voice(open_voice(name))))
    return opened


def _described(name: str, listener: Listener) -> ServedVoice:
    """A voice with what `listener.voices` tells about it; a model or a run of yours goes by its own name."""
    from allears.listener.voices import DESCRIPTIONS, ELSEWHERE, REMOTE, TITLES, VOICES

    if name in VOICES:
        own = listener.voice  # where the weights of "default" are not here, it is "chosen"
        return ServedVoice(name, listener, TITLES[own], DESCRIPTIONS[own], leaves_machine=own == REMOTE)
    if name.startswith(ELSEWHERE):
        called = name.partition(":")[2].rpartition("#")[2]  # of an address only the model behind it
        leaves = _leaves_machine(name)
        where = "What you say is sent there." if leaves else "Runs on this machine."
        return ServedVoice(
            called, listener, called, f"The language model {called} writes each reply. {where}", leaves
        )
    called = Path(name).resolve().name
    return ServedVoice(called, listener, called, f"Writes its replies with the generator {called}.")


def _leaves_machine(name: str) -> bool:
    """Whether what people say is sent elsewhere; where an address cannot be told to be this machine, it is."""
    if name.startswith("hf:"):
        return False
    address = os.environ.get("OLLAMA_HOST", "") or "localhost"
    if not name.startswith("ollama:"):
        address = name.partition(":")[2]
    try:
        host = urlsplit(address if "://" in address else f"//{address}").hostname
    except ValueError:
        return True
    return host not in THIS_MACHINE
