"""What an experiment is made of: runs, measurements, cells, claims. No torch, nothing is computed here.

An experiment's `plan` says for every cell where its number comes from: a measure of a measurement of a run. A run is
a recipe with changes; it may start from other runs. Equal runs and measurements are one, whoever asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from allears.experiments.setting import Setting

Key = tuple[str, str]
"""A cell's place: its row and its column."""


@dataclass(frozen=True, slots=True)
class Run:
    """A training run: `recipes/RECIPE.toml` with `--set` changes. `uses` says which keys of the recipe are the
    folders of which other runs."""

    name: str
    recipe: str
    changes: tuple[str, ...] = ()
    uses: tuple[tuple[str, Run | tuple[Run, ...]], ...] = ()

    @property
    def needs(self) -> tuple[Run, ...]:
        return tuple(run for _, used in self.uses for run in (used if isinstance(used, tuple) else (used,)))

    def seeded(self, seed: int) -> Run:
        """The same run with another seed; the first seed is the recipe's own."""
        if seed == 1:
            return self
        return Run(
            f"{self.name}-seed-{seed}", self.recipe, (*self.changes, f"training.seed={seed}"), self.uses
        )


@dataclass(frozen=True, slots=True)
class Measurement:
    """One question to one model, answered by one of the house's own evaluations (`measures/` has them by `kind`).

    `of`: a run, or a model by name ("default", "fasttext"); "" where a corpus is measured.
    """

    kind: str
    of: Run | str = ""
    against: Run | str = ""
    settings: tuple[tuple[str, Any], ...] = ()

    def option(self, name: str, default: Any = None) -> Any:
        return dict(self.settings).get(name, default)

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(model for model in (self.of, self.against) if isinstance(model, Run))


def measure(kind: str, of: Run | str = "", against: Run | str = "", **settings: Any) -> Measurement:
    """A measurement, its settings in an order of their own: equal ones are equal."""
    return Measurement(kind, of, against, tuple(sorted(settings.items())))


# --- where a cell's number comes from -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Take:
    """One measure of one measurement, or of one for each seed: their mean then."""

    measure: str
    of: tuple[Measurement, ...]
    times: float = 1.0

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return self.of


@dataclass(frozen=True, slots=True)
class _OfTwo:
    first: Take
    second: Take

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return (*self.first.of, *self.second.of)


@dataclass(frozen=True, slots=True)
class Minus(_OfTwo):
    """A difference."""


@dataclass(frozen=True, slots=True)
class Over(_OfTwo):
    """A ratio, such as a time relative to the Bi-encoder's."""


@dataclass(frozen=True, slots=True)
class Empty:
    """A cell that cannot be filled, and the sentence that says why."""

    why: str

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return ()


Ask = Take | Minus | Over | Empty


def take(measure: str, *of: Measurement, times: float = 1.0) -> Take:
    return Take(measure, of, times)


def by_rows(columns: Iterable[str], rows: Mapping[str, Sequence[float | None]]) -> dict[Key, float | str]:
    """Published numbers as a table prints them, a row at a time; None is a cell that it leaves open."""
    named = tuple(columns)
    return {
        (row, column): value
        for row, values in rows.items()
        for column, value in zip(named, values, strict=True)
        if value is not None
    }


@dataclass(frozen=True, slots=True)
class Plan:
    """A table before it is filled. A place that nothing is asked for and nobody published is simply not there."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    asks: Mapping[Key, Ask]

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Each once, in the order of the table."""
        places = [(row, column) for row in self.rows for column in self.columns]
        asked = [self.asks[place] for place in places if place in self.asks]
        return tuple(dict.fromkeys(each for ask in asked for each in ask.measurements))

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run that is needed, those that others start from first."""
        found: dict[Run, None] = {}

        def add(run: Run) -> None:
            for other in run.needs:
                add(other)
            found.setdefault(run)

        for measurement in self.measurements:
            for run in measurement.runs:
                add(run)
        return tuple(found)


def plan_of_measures(rows: Mapping[str, Sequence[Measurement]], measures: Mapping[str, str]) -> Plan:
    """A table whose every row rests on measurements of its own, with a column for each measure of them."""
    asks = {
        (row, column): take(name, *asked) for row, asked in rows.items() for column, name in measures.items()
    }
    return Plan(tuple(rows), tuple(measures), asks)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says, so that it can be checked: each of `falling` is higher than the next. A number among them is
    a published one. `otherwise`: what we make of it, shown where it did not hold."""

    text: str
    falling: tuple[Key | float, ...]
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """How a figure is drawn from its cells: "lines" (a line for each column over the rows), "bars" (a bar for each
    column at every row), or "points" (every two columns are a plane)."""

    kind: str
    x: str = ""
    y: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Experiment:
    """One table or figure of a paper."""

    name: str
    paper: str
    place: str
    question: str
    plan: Callable[[Setting], Plan]
    published: Mapping[Key, float | str] = field(default_factory=dict)
    source: str = ""  # where the published numbers stand
    differs: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    decimals: int = 1
    decimals_of: Mapping[str, int] = field(default_factory=dict)  # of single columns
    picture: Picture | None = None

    @property
    def title(self) -> str:
        return f"{self.paper}, {self.place}"


# --- what came of it ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cell:
    """A number (or a text) with its 95% interval and the values of the seeds; or the sentence why there is none.

    `code`: of a cell that was kept from an earlier sitting, the code it was measured with.
    """

    value: float | str | None = None
    low: float | None = None
    high: float | None = None
    seeds: tuple[float, ...] = ()
    why: str = ""
    code: str = ""

    def plain(self) -> dict[str, Any]:
        if self.value is None:
            return {"why": self.why}
        found: dict[str, Any] = {"value": self.value}
        if self.low is not None and self.high is not None:
            found |= {"low": self.low, "high": self.high}
        if len(self.seeds) > 1:
            found["seeds"] = list(self.seeds)
        if self.code:
            found["code"] = self.code
        return found

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Cell:
        return cls(
            plain.get("value"), plain.get("low"), plain.get("high"), tuple(plain.get("seeds", ())),
            plain.get("why", ""), plain.get("code", ""),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Done:
    """A run or a measurement that a result rests on: how to repeat it, how long it took, where, and its key."""

    what: str
    command: str
    seconds: float
    hardware: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Result:
    """An experiment's cells and everything that stands behind them."""

    experiment: str
    small: bool
    command: str
    cells: Mapping[Key, Cell]
    steps: tuple[Done, ...] = ()
    code: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return sum(step.seconds for step in self.steps)

    @property
    def hardware(self) -> str:
        return ", ".join(sorted({step.hardware for step in self.steps if step.hardware}))
