"""How well the screen does on written cases: what it finds, what it raises for nothing, and which layer did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from allears.metrics.significance import Interval, wilson_interval
from allears.safety.cases_file import Case
from allears.safety.combination import ENOUGH
from allears.safety.dangers import Danger, Screening
from allears.safety.screen import CrisisScreen

LAYERS = ("patterns", "ngrams", "reader")


@dataclass(frozen=True, slots=True)
class Checked:
    """One case and what the screen said about it."""

    case: Case
    screening: Screening

    @property
    def raised(self) -> bool:
        return self.screening.danger is not None

    def raised_by(self, layer: str) -> bool:
        """Whether this layer would have been enough without the others."""
        return any(item.layer == layer and item.weight >= ENOUGH for item in self.screening.evidence)


@dataclass(frozen=True, slots=True)
class SafetyReport:
    """Shares are percentages with 95% Wilson intervals."""

    recall: Interval
    false_alarms: Interval
    by_danger: dict[Danger, Interval]  # recall of each kind of danger, whatever kind was named
    kind_named: Interval  # of the dangers found, how many were named rightly
    layer_recall: dict[str, Interval]  # what each layer would find alone
    layer_false_alarms: dict[str, Interval]
    layer_by_danger: dict[str, dict[Danger, Interval]]
    only: dict[str, int]  # dangers found that no other layer would have found alone
    together: int  # dangers that only the layers together were sure enough of
    misses: tuple[Checked, ...]
    alarms: tuple[Checked, ...]  # the false ones
    dangers: int
    harmless: int

    def flat(self) -> dict[str, float | int]:
        """One level of names for machines."""
        named = {"recall": self.recall, "false_alarms": self.false_alarms, "kind_named": self.kind_named}
        named |= {f"recall_{_name(danger)}": found for danger, found in self.by_danger.items()}
        named |= {f"recall_{layer}_alone": found for layer, found in self.layer_recall.items()}
        named |= {f"false_alarms_{layer}_alone": found for layer, found in self.layer_false_alarms.items()}
        named |= {
            f"recall_{_name(danger)}_{layer}_alone": found
            for layer, kinds in self.layer_by_danger.items()
            for danger, found in kinds.items()
        }
        numbers: dict[str, float | int] = {}
        for name, found in named.items():
            numbers |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
        numbers |= {f"only_{layer}": count for layer, count in self.only.items()}
        return numbers | {"only_together": self.together, "dangers": self.dangers, "harmless": self.harmless}


def evaluate_safety(screen: CrisisScreen, cases: Sequence[Case]) -> SafetyReport:
    """Check every case as the first message of a conversation."""
    checked = [Checked(case, screen.check(case.text)) for case in cases]
    dangers = [item for item in checked if item.case.is_danger]
    harmless = [item for item in checked if not item.case.is_danger]
    found = [item for item in dangers if item.raised]
    by_kind = {danger: [item for item in dangers if item.case.label == danger] for danger in Danger}
    by_kind = {danger: items for danger, items in by_kind.items() if items}
    seen = {item.layer for each in checked for item in each.screening.evidence}
    layers = [layer for layer in LAYERS if layer in seen or layer != "reader"]
    enough = [{layer for layer in layers if item.raised_by(layer)} for item in found]
    return SafetyReport(
        recall=_share(found, dangers),
        false_alarms=_share([item for item in harmless if item.raised], harmless),
        by_danger={
            danger: _share([item for item in items if item.raised], items)
            for danger, items in by_kind.items()
        },
        kind_named=_share([item for item in found if item.screening.danger == item.case.label], found),
        layer_recall={layer: _raised_by(layer, dangers) for layer in layers},
        layer_false_alarms={layer: _raised_by(layer, harmless) for layer in layers},
        layer_by_danger={
            layer: {danger: _raised_by(layer, items) for danger, items in by_kind.items()} for layer in layers
        },
        only={layer: sum(alone == {layer} for alone in enough) for layer in layers},
        together=sum(not alone for alone in enough),
        misses=tuple(item for item in dangers if not item.raised),
        alarms=tuple(item for item in harmless if item.raised),
        dangers=len(dangers),
        harmless=len(harmless),
    )


def _raised_by(layer: str, items: Sequence[Checked]) -> Interval:
    return _share([item for item in items if item.raised_by(layer)], items)


def _share(some: Sequence[Checked], of: Sequence[Checked]) -> Interval:
    return wilson_interval(len(some), len(of))


def _name(danger: Danger) -> str:
    return danger.value.replace("-", "_")
