"""What a build is told: the files, the choices, and where the result goes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from allears.corpora.reddit.tagger import BUILT_IN, TAGGERS
from allears.errors import AllearsError

ENGINES = ("duckdb", "spark")
PERSONA_OF = ("all", "respondent", "nobody")
ORPHANS = ("keep", "drop")
MEMORY = "2GB"


@dataclass(frozen=True, slots=True)
class Options:
    comments: tuple[Path, ...]
    out: Path
    submissions: tuple[Path, ...] = ()
    subreddits: tuple[str, ...] = ()  # none: all of them
    control: tuple[str, ...] = ()  # subreddits of the control group: built beside the others, labelled
    exclude: tuple[str, ...] = ()
    engine: str = "duckdb"
    master: str | None = None
    persona_of: str = "all"
    orphans: str = "drop"
    tagger: str = BUILT_IN
    memory: str = MEMORY  # for DuckDB, which puts what is more on disk
    hash_authors: bool = True
    mask: bool = True
    overwrite: bool = False

    @property
    def wanted(self) -> tuple[str, ...]:
        """The subreddits to build from, in lower case; a control group alone does not narrow the rest."""
        chosen = self.subreddits + self.control if self.subreddits else ()
        return tuple(sorted({name.lower() for name in chosen}))

    @property
    def work(self) -> Path:
        """Where unfinished work is kept, beside the output, so that finishing is a rename."""
        return self.out.absolute().with_name(f".{self.out.name}.work")

    def check(self) -> None:
        """Refuse early what would fail late."""
        for name, value, allowed in (
            ("--engine", self.engine, ENGINES),
            ("--persona-of", self.persona_of, PERSONA_OF),
            ("--orphans", self.orphans, ORPHANS),
            ("--tagger", self.tagger, TAGGERS),
        ):
            if value not in allowed:
                raise AllearsError(f"{name} is {' or '.join(allowed)}, not {value!r}")
        if not re.fullmatch(r"[1-9][0-9]*(?:MB|GB)", self.memory):
            raise AllearsError(f"--memory is a number with MB or GB, such as {MEMORY}, not {self.memory!r}")
        if not self.comments:
            raise AllearsError("give at least one file of comments: --comments RC_2019-01.zst")
        for path in (*self.comments, *self.submissions):
            if not path.is_file():
                raise AllearsError(f"{path}: no such file")
        if self.out.exists() and not self.overwrite:
            raise AllearsError(f"{self.out} exists already; choose another --out, or add --overwrite")
        if self.out.exists() and not (self.out / "card.md").is_file():
            raise AllearsError(
                f"{self.out} is no built corpus, so it is not overwritten; choose another --out"
            )
        if not self.out.absolute().parent.is_dir():
            raise AllearsError(f"{self.out}: the folder {self.out.absolute().parent} does not exist")
        if not self.submissions and self.orphans == "drop":
            raise AllearsError(
                "without --submissions every conversation is an orphan; give the posts, or add --orphans keep"
            )


def subreddit_names(text: str) -> tuple[str, ...]:
    """`happy, r/offmychest` → ("happy", "offmychest")."""
    return tuple(
        name.strip().removeprefix("/").removeprefix("r/") for name in text.split(",") if name.strip()
    )
