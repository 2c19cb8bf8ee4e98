"""Systems under test: a run folder, a bundle, a voice, a remote endpoint, a file of outputs, or the people's own reply.

What they say is asked for once, before the study begins (`frozen.py`); only in a chat are they asked live. Models are
imported when one is opened.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.errors import AllearsError
from allears.study.design import SystemSpec
from allears.study.items import Item

Watch = Callable[[Sequence[Any], str], Iterable[Any]]


class Talker(Protocol):
    """Answers the last line of a conversation."""

    def reply(self, turns: Sequence[Turn], persona: Sequence[str] = (), *, seed: int = 0) -> str: ...


def unwatched(items: Sequence[Any], what: str) -> Iterable[Any]:
    return items


def outputs_of(
    spec: SystemSpec, items: Sequence[Item], folder: Path, *, seed: int, watch: Watch = unwatched
) -> dict[str, str]:
    """What a system says for every item, by the items' ids."""
    if spec.gold:
        found = {item.id: item.gold for item in items}
    elif spec.outputs:
        found = _read_outputs(folder / spec.outputs)
    else:
        talker = open_talker(spec, folder)
        found = {
            item.id: talker.reply(item.talk.turns, item.persona, seed=seed)
            for item in watch(items, f"asking {spec.name}")
        }
    for item in items:
        if not found.get(item.id, "").strip():
            raise AllearsError(f"the system {spec.name!r} has no output for the item {item.id!r}")
    return {item.id: found[item.id].strip() for item in items}


def _read_outputs(path: Path) -> dict[str, str]:
    """`{"item": id, "text": reply}` a line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AllearsError(f"{path}: cannot read the outputs; expected a JSONL file") from error
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            item, text = record["item"], record["text"]
        except (ValueError, TypeError, KeyError) as error:
            raise AllearsError(
                f'{path}, line {number}: expected {{"item": "an id", "text": "the reply"}}'
            ) from error
        if not isinstance(item, str) or not isinstance(text, str):
            raise AllearsError(f"{path}, line {number}: `item` and `text` must be texts")
        if item in found:
            raise AllearsError(f"{path}, line {number}: there is an output for {item!r} already")
        found[item] = text
    return found


def open_talker(spec: SystemSpec, folder: Path) -> Talker:
    """A system that can be asked."""
    if spec.endpoint:
        return _endpoint(spec)
    if _listens(spec):
        return _Listening(_listener(spec, folder))
    model = spec.run or spec.bundle
    path = folder / model if model != "default" and (folder / model).exists() else Path(model)
    if spec.candidates:
        return _Choosing(path, folder / spec.candidates)
    from allears.models.generation.loading import load_generator

    return _Writing(load_generator(path))


def open_talkers(specs: Iterable[SystemSpec], folder: Path) -> dict[str, Talker]:
    """Several systems. Voices of the same bundle share all but their words."""
    from allears.listener.voices import open_voice

    shared: dict[str, Any] = {}
    found: dict[str, Talker] = {}
    for spec in specs:
        if not _listens(spec):
            found[spec.name] = open_talker(spec, folder)
            continue
        bundle = _bundle(spec, folder)
        known = shared.get(str(bundle))
        if known is None:
            known = shared[str(bundle)] = _listener(spec, folder)
        else:
            known = known.with_voice(open_voice(spec.voice or "default"))
        found[spec.name] = _Listening(known)
    return found


def _listens(spec: SystemSpec) -> bool:
    return bool(spec.voice or (spec.bundle and not spec.candidates))


def _listener(spec: SystemSpec, folder: Path) -> Any:
    from allears.listener.listener import Listener

    return Listener.from_bundle(_bundle(spec, folder), voice=spec.voice or "default")


def _bundle(spec: SystemSpec, folder: Path) -> Path | str:
    name = spec.bundle or "default"
    return folder / name if name != "default" and (folder / name).exists() else name


def _endpoint(spec: SystemSpec) -> Talker:
    import os

    from allears.runtime.remote import PREFIX, RemoteGenerator, RemoteOptions

    address = urlsplit(spec.endpoint)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise AllearsError(
            f"the system {spec.name!r} has the endpoint {spec.endpoint!r}; expected an address such as "
            "http://localhost:11434/v1"
        )
    # the key is a secret: it has no place in a file that is shared
    key = os.environ.get(f"{PREFIX}KEY", "")
    return _Writing(RemoteGenerator(RemoteOptions(spec.endpoint.rstrip("/"), spec.model, key)))


class _Writing:
    """A generator, asked for one reply."""

    def __init__(self, generator: Any) -> None:
        self.generator = generator

    def reply(self, turns: Sequence[Turn], persona: Sequence[str] = (), *, seed: int = 0) -> str:
        from allears.listener.voices import SMALL_SETTINGS
        from allears.runtime.generator import Prompt

        prompt = Prompt(tuple(turns), tuple(persona))
        return str(self.generator.generate([prompt], SMALL_SETTINGS, [seed])[0][0].text)


class _Choosing:
    """A selection model with a file of candidates: the one that scores best."""

    def __init__(self, model: Path, candidates: Path) -> None:
        from allears.models.selection.loading import load_selector

        try:
            lines = candidates.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise AllearsError(
                f"{candidates}: cannot read the candidates; expected a reply a line"
            ) from error
        self.texts = [line.strip() for line in lines if line.strip()]
        if not self.texts:
            raise AllearsError(f"{candidates}: there is no candidate in it; write a reply a line")
        self.selector = load_selector(model)
        self.encoded = self.selector.encode_responses(self.texts)

    def reply(self, turns: Sequence[Turn], persona: Sequence[str] = (), *, seed: int = 0) -> str:
        import numpy as np

        from allears.runtime.selector import Query

        every = np.arange(len(self.texts), dtype=np.int64)[None]
        scores = self.selector.score([Query(tuple(turns))], self.encoded, every)
        return self.texts[int(np.argmax(scores[0]))]


class _Listening:
    """The whole listener, with one of its voices."""

    def __init__(self, listener: Any) -> None:
        self.listener = listener

    def reply(self, turns: Sequence[Turn], persona: Sequence[str] = (), *, seed: int = 0) -> str:
        *before, last = turns
        if last.speaker is not Role.SEEKER:
            raise AllearsError(
                f"a listener answers the seeker, but the last line of an item is the supporter's: {last.text[:60]!r}; "
                "set items.last_reply = true"
            )
        known = Persona(tuple(PersonaSentence(text) for text in persona))
        personas = {Role.SEEKER.value: known} if known.sentences else {}
        talk = Conversation("study", tuple(before), personas=personas)
        return self.listener.respond(last.text, talk, seed=seed).text


# --- fingerprints


def fingerprint(spec: SystemSpec, folder: Path) -> str:
    """What a system is, as a SHA-256: of its file or of all files in its folder. An endpoint is only its address."""
    digest = hashlib.sha256()
    if spec.gold:
        digest.update(b"gold")
    elif spec.outputs:
        digest.update(_content(folder / spec.outputs))
    elif spec.endpoint:
        digest.update(f"{spec.endpoint} {spec.model}".encode())
    else:
        digest.update(f"{spec.source} {_opened_voice(spec)}".encode())
        for path in _model_places(spec, folder):
            for file in sorted(each for each in path.rglob("*") if each.is_file() and each.suffix != ".pyc"):
                digest.update(str(file.relative_to(path)).encode())
                digest.update(hashlib.sha256(_content(file)).digest())
            if path.is_file():
                digest.update(hashlib.sha256(_content(path)).digest())
        if spec.candidates:
            digest.update(_content(folder / spec.candidates))
    return digest.hexdigest()


def can_be_frozen(spec: SystemSpec) -> bool:
    """Whether a fingerprint says what will be answered; what stands behind an address may change unseen."""
    from allears.listener.voices import ELSEWHERE, REMOTE

    return not spec.endpoint and spec.voice != REMOTE and not spec.voice.startswith(ELSEWHERE)


def _opened_voice(spec: SystemSpec) -> str:
    """The voice that a listener speaks with: `default` is another one once its weights are on this machine."""
    from allears.listener.voices import CHOSEN, DEFAULT, missing

    voice = spec.voice or (DEFAULT if _listens(spec) else "")
    return CHOSEN if voice == DEFAULT and missing(DEFAULT) else voice


def _model_places(spec: SystemSpec, folder: Path) -> list[Path]:
    """The folders and files that decide what is said."""
    from allears.runtime.bundle import default_bundle

    named = [name for name in (spec.run, spec.bundle) if name]
    found: list[Path] = []
    if _listens(spec):  # a listener also answers from its cards, and some voices have weights of their own
        from allears.listener.voices import DEFAULT, ELSEWHERE, SMALL, VOICES
        from allears.runtime.smollm2 import SMOLLM2_FOLDER

        found.append(Path(str(files("allears.listener"))) / "cards")
        if spec.voice:
            named.append("default")  # the bundle that reads and chooses
        adapter = default_bundle().parent / "voice"  # what `default` learned, and which weights it belongs to
        if _opened_voice(spec) == DEFAULT and adapter.is_dir():
            found.append(adapter)
        if spec.voice == SMALL:
            found.append(SMOLLM2_FOLDER)
        elif spec.voice and spec.voice not in VOICES and not spec.voice.startswith(ELSEWHERE):
            named.append(spec.voice)
    for name in named:
        path = default_bundle() if name == "default" else folder / name
        path = path if path.exists() else Path(name)
        if not path.is_dir() and not (path.suffix == ".gguf" and path.is_file()):
            kind = "file" if path.suffix == ".gguf" else "folder"
            raise AllearsError(f"the system {spec.name!r} names the {kind} {name}, which is not there")
        found.append(path)
    return found


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise AllearsError(f"{path}: cannot be read ({error.strerror})") from error
