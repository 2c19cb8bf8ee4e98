"""Going on past broken rows while remembering them: what `--skip-bad` hands to a reader."""

from __future__ import annotations

from dataclasses import dataclass, field

from allears.corpora.files import CorpusError

KEPT = 20  # enough to see what is wrong; a file of another kind has a bad row per line


@dataclass(slots=True)
class BadRows:
    """An `OnBad` that returns, so that the reader goes on; counts every row and keeps the first few."""

    count: int = 0
    first: list[CorpusError] = field(default_factory=list)

    def __call__(self, error: CorpusError) -> None:
        self.count += 1
        if len(self.first) < KEPT:
            self.first.append(error)

    def report(self) -> list[str]:
        """Lines for a person: how many were skipped, and the first ones."""
        if not self.count:
            return []
        rows = "row" if self.count == 1 else "rows"
        shown = "" if self.count <= len(self.first) else f" (the first {len(self.first)} are listed)"
        return [f"skipped {self.count:,} bad {rows}{shown}:", *(f"  {error}" for error in self.first)]
