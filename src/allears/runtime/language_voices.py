"""Language models by name, as generators: ours, a GGUF file, or whatever answers behind an address.

    default | qwen-0.5b | FILE.gguf | ollama:NAME | openai:URL#MODEL

`hf:NAME` needs torch, so whoever is above this room hands in what opens it (`allears.models.generation.hub_voice`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from allears.errors import AllearsError
from allears.runtime.endpoint import Endpoint, SilentError
from allears.runtime.generating import SeededGenerator
from allears.runtime.gguf_voice import GgufOptions, GgufVoice
from allears.runtime.remote import RemoteGenerator, RemoteOptions
from allears.runtime.voice_choice import VOICES, voice_files

OLLAMA, OPENAI, HUB = "ollama", "openai", "hf"
KINDS = "default, qwen-0.5b, ollama:NAME, openai:URL#MODEL, hf:NAME or a .gguf file"
OLLAMA_HOST = "127.0.0.1:11434"
PATIENCE = 5.0  # seconds until a server says which models it has
LOCAL_TIMEOUT = 120.0  # a model on this machine may have to be loaded first

OpenHub = Callable[[str], SeededGenerator]


@dataclass(frozen=True, slots=True)
class VoiceName:
    """A name, taken apart: its kind ("" for ours and files) and the rest."""

    kind: str
    rest: str

    @classmethod
    def of(cls, name: str) -> VoiceName:
        kind, colon, rest = name.partition(":")
        if colon and kind in (OLLAMA, OPENAI, HUB):
            if not rest:
                raise AllearsError(f"the voice {name!r} lacks a name behind the colon, as in {KINDS}")
            return cls(kind, rest)
        if name in VOICES or Path(name).suffix == ".gguf":
            return cls("", name)
        raise AllearsError(f"there is no language model {name!r}; give {KINDS}")


def is_language_voice(name: str) -> bool:
    """Whether a name is one that `open_language_voice` takes."""
    try:
        VoiceName.of(name)
    except AllearsError:
        return False
    return True


def open_language_voice(
    name: str,
    *,
    threads: int | None = None,
    environ: Mapping[str, str] = os.environ,
    open_hub: OpenHub | None = None,
) -> SeededGenerator:
    """A language model as a generator, ready to be asked; what is missing is one sentence with the remedy.

    Args:
        open_hub: Opens `hf:NAME`, with torch: `allears.models.generation.hub_voice.open_hub_voice`.
    """
    wanted = VoiceName.of(name)
    if wanted.kind == OLLAMA:
        return _ollama(wanted.rest, environ)
    if wanted.kind == OPENAI:
        return _openai(wanted.rest, environ)
    if wanted.kind == HUB:
        if open_hub is None:
            raise AllearsError(f"the voice {name} needs torch; it cannot be opened by the light runtime")
        return open_hub(wanted.rest)
    model, adapter = voice_files(name) if name in VOICES else (Path(name), None)
    return GgufVoice(GgufOptions(model, adapter, threads=threads))


def _ollama(model: str, environ: Mapping[str, str]) -> RemoteGenerator:
    host = environ.get("OLLAMA_HOST") or OLLAMA_HOST
    host = host if "://" in host else f"http://{host}"
    address = urlsplit(host)
    port = address.port or (443 if address.scheme == "https" else 11434)
    # 0.0.0.0 is where a server listens; it is asked at this machine
    name = "127.0.0.1" if address.hostname in (None, "0.0.0.0") else address.hostname
    url = f"{address.scheme}://{name}:{port}/v1"
    try:
        there = Endpoint(url).models(PATIENCE)
    except SilentError as error:
        raise AllearsError(
            f"Ollama does not answer at {url}; start it with `ollama serve`, or set OLLAMA_HOST to where it runs"
        ) from error
    if model not in there and f"{model}:latest" not in there:
        raise AllearsError(f"Ollama has no model {model}; run: ollama pull {model} (it has {_some(there)})")
    return RemoteGenerator(RemoteOptions(url, model, timeout=LOCAL_TIMEOUT))


def _openai(rest: str, environ: Mapping[str, str]) -> RemoteGenerator:
    url, _, model = rest.partition("#")
    address = urlsplit(url)
    if address.scheme not in ("http", "https") or not address.hostname or not model:
        raise AllearsError(
            f"openai:{rest} lacks an address or a model; write openai:http://HOST:PORT/v1#MODEL"
        )
    url = url.rstrip("/")
    key = environ.get("OPENAI_API_KEY") or environ.get("ALLEARS_REMOTE_KEY") or ""
    there = Endpoint(url, key).models(PATIENCE)
    if there and model not in there:
        raise AllearsError(f"{url} has no model {model}; it has {_some(there)}")
    return RemoteGenerator(RemoteOptions(url, model, key, timeout=LOCAL_TIMEOUT))


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown or "none"
