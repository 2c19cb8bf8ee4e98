"""A bundle folder, opened once for all of its parts: the card, the files checked, one tokenizer and one encoder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Self

import onnxruntime

from allears.errors import AllearsError
from allears.runtime.bundle import DEFAULT, ENCODER_FILE, BundleCard, check_files, folder_of
from allears.runtime.onnx_encoder import OnnxEncoder, open_graph
from allears.text.tokenizer import WordPiece


class Bundle:
    """`Bundle("default")`, or any folder that `allears export` made.

    Args:
        path: A bundle folder, or "default" for the one that ships with allears.
        encoder: An encoder of this very bundle that is open already.
        tokenizer: Likewise.
        threads: Of the encoder and of large graphs; the number of physical cores by default.
        verify: Also compare every file's SHA-256, which takes a second.
    """

    def __init__(
        self,
        path: Path | str = DEFAULT,
        encoder: OnnxEncoder | None = None,
        tokenizer: WordPiece | None = None,
        *,
        threads: int | None = None,
        verify: bool = False,
    ):
        self.folder = folder_of(path)
        self.card = BundleCard.read(self.folder)
        self.threads, self._verify = threads, verify
        self._encoder, self._tokenizer = encoder, tokenizer

    def part(self, name: str, files: Collection[str], option: str) -> None:
        """Check that a part is there and every file whole; without it, one sentence says how to add it."""
        if not self.card.has(files):
            raise AllearsError(
                f"{self.folder}: this bundle carries no {name}; export it again with "
                f"`allears export RUN {option} --out FOLDER`, or add it to this one"
            )
        check_files(self.folder, self.card, verify=self._verify)

    def fits(self, name: str, size: int) -> None:
        """Check that a part was made for the states of this bundle's encoder."""
        if size != self.card.size:
            raise AllearsError(
                f"{self.folder}: its {name} is for states of {size} numbers, its encoder makes {self.card.size}; "
                "export the bundle again"
            )

    def graph(
        self, name: str, threads: int | None = None, *, many_small_runs: bool = False
    ) -> onnxruntime.InferenceSession:
        return open_graph(self.folder / name, threads, many_small_runs=many_small_runs)

    @cached_property
    def tokenizer(self) -> WordPiece:
        return self._tokenizer or WordPiece(self.folder)

    @cached_property
    def encoder(self) -> OnnxEncoder:
        return self._encoder or OnnxEncoder(self.graph(ENCODER_FILE, self.threads), self.threads)


class BundlePart(ABC):
    """What reads with a bundle's one encoder, which a ranker of the same bundle may have opened already."""

    @classmethod
    def from_bundle(
        cls,
        path: Path | str = DEFAULT,
        encoder: OnnxEncoder | None = None,
        tokenizer: WordPiece | None = None,
        *,
        threads: int | None = None,
        verify: bool = False,
    ) -> Self:
        """Open a bundle folder, or the one that ships with allears ("default").

        `threads` defaults to the number of physical cores. `verify` also compares every file's SHA-256.
        """
        return cls.of(Bundle(path, encoder, tokenizer, threads=threads, verify=verify))

    @classmethod
    @abstractmethod
    def of(cls, bundle: Bundle) -> Self:
        """The part of a bundle that is open, or one sentence if it has none."""
