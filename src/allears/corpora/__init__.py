"""Corpora by name: ours, a user's jsonl file, and readers other packages offer through an entry point."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from allears.conversation import Conversation
from allears.corpora.corpus import Corpus, CorpusInfo, Download
from allears.corpora.examples import PAPER_RULES, ExampleRule, examples
from allears.corpora.files import CorpusError, OnBad, raise_bad

__all__ = [
    "PAPER_RULES",
    "Corpus",
    "CorpusError",
    "CorpusInfo",
    "Download",
    "ExampleRule",
    "corpus",
    "corpus_names",
    "data_root",
    "examples",
    "read",
]

ENTRY_POINT_GROUP = "allears.corpora"

# name -> where its reader is. Imported when asked for, so that `import allears` stays light.
_READERS = {
    "ed": "empathetic_dialogues:EmpatheticDialogues",
    "ed-intents": "empathetic_intents:EmpatheticIntents",
    "dailydialog": "daily_dialog:DailyDialog",
    "esconv": "esconv:ESConv",
    "esconv-failed": "esconv:ESConvFailed",
    "pesconv": "esconv:PESConv",
    "personachat": "persona_chat:PersonaChat",
    "personachat-profiles": "persona_chat:PersonaChatProfiles",
    "msc": "msc:MultiSessionChat",
    "pec": "pec:PEC",
    "epitome": "epitome:Epitome",
    "goemotions": "goemotions:GoEmotions",
    "20news": "newsgroups:Newsgroups",
    "talks": "talks:Talks",
    "marked-replies": "marked:MarkedReplies",
    "crisis-talks": "crisis:CrisisTalks",
    "risk-cases": "risk_cases:RiskCases",
}
_ALIASES = {
    "empatheticdialogues": "ed",
    "empathetic-dialogues": "ed",
    "empatheticintents": "ed-intents",
    "dd": "dailydialog",
    "persona-chat": "personachat",
    "newsgroups": "20news",
    "20newsgroups": "20news",
}


def corpus_names() -> list[str]:
    """Every corpus that can be named: the built-in ones, then those from other packages."""
    return [*_READERS, *sorted(_from_entry_points())]


def corpus(name: str | Path) -> Corpus:
    """The reader for a name (`"ed"`), or for a user's own corpus: a .jsonl file in our schema."""
    text = str(name)
    key = text.lower().replace("_", "-")
    key = _ALIASES.get(key, key)
    if key in _READERS:
        module, _, attribute = _READERS[key].partition(":")
        reader: Corpus = getattr(import_module(f"allears.corpora.{module}"), attribute)()
        return reader
    others = _from_entry_points()
    if text in others:
        return _load(others[text])
    if any(text.removesuffix(ending).endswith(".jsonl") for ending in ("", ".gz", ".zst")):
        from allears.corpora.jsonl import JsonLines

        return JsonLines(Path(text))
    raise CorpusError(
        f"unknown corpus {text!r}; known are {', '.join(corpus_names())}, or the path of a .jsonl file"
    )


def read(
    name: str | Path, split: str, root: Path | str | None = None, *, on_bad: OnBad = raise_bad
) -> Iterator[Conversation]:
    """The conversations of one split, one at a time: `for conversation in read("ed", "train"): ...`"""
    return corpus(name).read(split, data_root(root), on_bad=on_bad)


def data_root(root: Path | str | None = None) -> Path:
    """Where the corpora are: `root` if given, else `$ALLEARS_DATA`, else the user's data folder."""
    if root is not None:
        return Path(root)
    if os.environ.get("ALLEARS_DATA"):
        return Path(os.environ["ALLEARS_DATA"])
    from platformdirs import user_data_path

    return user_data_path("allears") / "corpora"


@cache
def _from_entry_points() -> dict[str, EntryPoint]:
    """What other packages offer. Looking costs little; their code runs only when a corpus is asked for."""
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


def _load(point: EntryPoint) -> Corpus:
    try:
        reader = point.load()()
    except Exception as error:  # somebody else's code: whatever it raises, say whose it is
        raise CorpusError(f"the reader {point.name!r} ({point.value}) cannot be loaded: {error}") from error
    if not isinstance(reader, Corpus):
        raise CorpusError(f"the reader {point.name!r} ({point.value}) must have `info` and `read`")
    return reader
