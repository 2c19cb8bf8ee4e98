"""A trained adapter as it is shipped: its card as it is, its weights in int8 (`adapter_file.py`); no torch."""

from __future__ import annotations

from pathlib import Path

from allears.errors import AllearsError
from allears.runtime.adapter_file import read_adapter, write_adapter
from allears.runtime.bundle import CARD_FILE
from allears.runtime.causal import WEIGHTS_FILE, read_card
from allears.runtime.runs import MODEL_FILE, best


def export_adapter(run: Path | str, out: Path | str) -> list[Path]:
    """Write the adapter of a language model's run to the folder `out`; the files that were written.

    An adapter that is there is replaced; the run itself keeps its own precision, to go on training from.
    """
    folder, out = best(run), Path(out)
    read_card(folder)  # a broken card is not shipped
    card = (folder / MODEL_FILE).read_bytes()
    learned = read_adapter(folder / WEIGHTS_FILE)
    if out.resolve() in (Path(run).resolve(), folder.resolve()):
        raise AllearsError(f"{out}: this is the run itself; give --out another folder")
    if (out / CARD_FILE).exists():
        raise AllearsError(f"{out}: a bundle is here, and an adapter is none; give --out another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_adapter(out / WEIGHTS_FILE, learned)
        temporary = out / f"{MODEL_FILE}.part"
        temporary.write_bytes(card)
        temporary.rename(out / MODEL_FILE)
    except OSError as error:
        raise AllearsError(
            f"{out}: the adapter cannot be written there ({error.strerror or error})"
        ) from error
    return [out / MODEL_FILE, out / WEIGHTS_FILE]
