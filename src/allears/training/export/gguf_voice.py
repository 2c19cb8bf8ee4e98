"""A trained voice as it is shipped: its adapter for llama.cpp, which base it belongs to, its licence and its card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from allears.corpora import corpus
from allears.errors import AllearsError
from allears.runtime.adapter_file import read_adapter
from allears.runtime.adapter_gguf import check_fits, field, open_gguf, write_adapter_gguf
from allears.runtime.bundle import CARD_FILE as BUNDLE_FILE
from allears.runtime.gguf_card import ADAPTER_FILE, CARD_FILE, GgufVoiceCard
from allears.runtime.runs import best
from allears.runtime.weights import BASES, DEFAULT_BASE, installed, sha256, weights_file
from allears.training.voice.model import WEIGHTS_FILE, VoiceCard, read_card

FILES = (ADAPTER_FILE, CARD_FILE, "LICENSE", "MODEL_CARD.md")


def export_gguf_voice(run: Path | str, out: Path | str, base: str = DEFAULT_BASE) -> list[Path]:
    """Write a voice's folder `out`; the files that were written. A voice that is there is replaced.

    Args:
        base: What the adapter is laid over: a name of `allears voice list`, or a .gguf file.
    """
    folder, out = best(run), Path(out)
    if (out / BUNDLE_FILE).exists():
        raise AllearsError(f"{out}: a bundle is here, and a voice is none; give --out another folder")
    if out.resolve() in (Path(run).resolve(), folder.resolve()):
        raise AllearsError(f"{out}: this is the run itself; give --out another folder")
    card = read_card(folder)
    learned = read_adapter(folder / WEIGHTS_FILE)
    name, digest, licence, file = _base(base)
    architecture, heads = "qwen2", None
    if file is not None:
        reader = open_gguf(file)
        architecture = str(field(reader, "general.architecture"))
        counts = [
            field(reader, f"{architecture}.attention.{which}") for which in ("head_count", "head_count_kv")
        ]
        heads = (int(counts[0]), int(counts[1])) if all(counts) else None
        check_fits(learned, reader, name)
    made = _made(Path(run))
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_adapter_gguf(
            out / ADAPTER_FILE, learned, architecture=architecture, alpha=card.alpha, heads=heads
        )
        GgufVoiceCard(name, digest, card.rank, card.alpha).write(out)
        (out / "LICENSE").write_text(_licence(name, licence, made), encoding="utf-8")
        (out / "MODEL_CARD.md").write_text(_model_card(name, digest, licence, card, made), encoding="utf-8")
    except OSError as error:
        raise AllearsError(f"{out}: the voice cannot be written there ({error.strerror or error})") from error
    return [out / each for each in FILES]


def _base(base: str) -> tuple[str, str, str, Path | None]:
    """A base's name, SHA-256 and licence, and its file where it is at hand."""
    if base in BASES:
        weights = BASES[base]
        return base, weights.sha256, weights.licence, weights_file(base) if installed(base) else None
    path = Path(base)
    if path.suffix != ".gguf" or not path.is_file():
        raise AllearsError(
            f"{base}: no such base; there are {', '.join(BASES)}, or give the .gguf file that the adapter is laid over"
        )
    digest = sha256(path)
    for name, weights in BASES.items():
        if weights.sha256 == digest:
            return name, digest, weights.licence, path
    return path.name, digest, "the licence that came with it", path


def _made(run: Path) -> dict[str, Any]:
    """What the run remembers of its training; nothing where only the adapter was handed on."""
    try:
        found = json.loads((run / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _corpora(made: dict[str, Any]) -> list[str]:
    names = made.get("recipe", {}).get("data", {}).get("train", [])
    return [f"{corpus(name).info.title} ({corpus(name).info.licence})" for name in names]


def _licence(base: str, licence: str, made: dict[str, Any]) -> str:
    data = "; ".join(_corpora(made)) or "conversations that its run does not name"
    return (
        f"This adapter changes the language model {base} ({licence}), which is not part of it.\n"
        f"It was learned from: {data}.\n"
        "Whoever passes it on keeps to the licences of that data and gives credit as they ask.\n"
    )


def _model_card(base: str, digest: str, licence: str, card: VoiceCard, made: dict[str, Any]) -> str:
    training = made.get("recipe", {}).get("training", {})
    told = {key: training[key] for key in ("epochs", "batch", "learning_rate", "seed") if key in training}
    lines = [
        "# A language-model voice",
        "",
        f"A low-rank adapter (rank {card.rank}, alpha {card.alpha}, float16) for {base} ({licence}), to be run by "
        f"llama.cpp: `{ADAPTER_FILE}`, and what it belongs to in `{CARD_FILE}`.",
        "",
        f"- Base file: SHA-256 `{digest}`",
        f"- Learned from: {'; '.join(_corpora(made)) or 'not noted'}",
        f"- Training: {', '.join(f'{key} {value}' for key, value in told.items()) or 'not noted'}"
        f"{', on ' + made['hardware'] if made.get('hardware') else ''}",
        "",
        "It writes a strategy in brackets, then a reply. It is no substitute for professional help.",
    ]
    return "\n".join(lines) + "\n"
