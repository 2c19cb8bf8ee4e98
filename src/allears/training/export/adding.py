"""A part more in a bundle: it must belong to the encoder that is there, and the bundle is whole at every moment."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from allears.errors import AllearsError
from allears.nn.weights import weights_digest
from allears.runtime.bundle import BundleCard, BundleFile
from allears.text.tokenizer import Tokenizer, WordPiece


@dataclass(frozen=True, slots=True)
class Host:
    """What a part is added to: in words, the digests that its encoder's weights may have, and how it cuts text."""

    name: str
    digests: Collection[str]
    tokenizer: Tokenizer

    @classmethod
    def of(cls, folder: Path, card: BundleCard, part: str) -> Host:
        """A bundle that is there; `part` is what is added to it."""
        return cls(str(folder), encoder_digests(folder, card, part), WordPiece(folder))


def check_belongs(name: str, part: Any, host: Host, advice: str) -> None:
    """A part (`the reader`), opened with its model and tokenizer, was trained on the very encoder of its host."""
    if weights_digest(part.model.encoder) not in host.digests:
        raise AllearsError(
            f"{name}'s encoder has other weights than that of {host.name}, so it would misread its states; {advice}"
        )
    its = host.tokenizer
    if not isinstance(its, WordPiece) or its.backend.to_str() != part.tokenizer.backend.to_str():
        raise AllearsError(
            f"{name} cuts text into other tokens than {host.name}; train both with one tokenizer"
        )


def encoder_digests(folder: Path, card: BundleCard, part: str) -> list[str]:
    """Which weights the encoder of a bundle has: those of the run it came from, and those it gives back itself."""
    if not card.encoder_digest:
        raise AllearsError(
            f"{folder}: this bundle does not say which weights its encoder has, as it is from an older version; "
            f"export it again before {part} is added"
        )
    if card.precision != "int8" or not card.encoder:
        return [card.encoder_digest]
    from allears.nn.bundle_encoder import bundle_encoder

    try:
        return [card.encoder_digest, weights_digest(bundle_encoder(folder))]
    except AllearsError:  # a family whose weights it cannot give back: nothing was trained on those
        return [card.encoder_digest]


@contextmanager
def scratch_beside(folder: Path) -> Iterator[Path]:
    """An empty folder on the same disk, so that files can be moved from it; gone in the end."""
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.resolve().parent) as scratch:
        yield Path(scratch)


def put_files(
    folder: Path, card: BundleCard, new: Path, names: Sequence[str], *, old: Collection[str]
) -> BundleCard:
    """Move files from `new` into a bundle in place of its `old` ones, and return its new card.

    Until the last of them is there, the card names none of them. The fingerprint stays, so no index needs to be
    built again.
    """
    files = {name: BundleFile.of(new / name) for name in names}
    others = {name: facts for name, facts in card.files.items() if name not in {*old, *names}}
    if len(others) < len(card.files):
        replace(card, files=others).write(folder)
    for name in names:
        (new / name).replace(folder / name)
    card = replace(card, files=others | files)
    card.write(folder)
    for name in set(old) - set(names):
        (folder / name).unlink(missing_ok=True)
    return card
