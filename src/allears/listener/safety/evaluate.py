"""How well the screen does on written cases: what it finds, what it raises for nothing, and which layer did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from allears.listener.safety.cases_file import Case
from allears.listener.safety.dangers import Danger, Screening
from allears.listener.safety.screen import THRESHOLD, CrisisScreen, certainty_of
from allears.metrics.significance import Interval, wilson_interval

LAYERS = ("patterns", "head")


@dataclass(frozen=True, slots=True)
class Checked:
    """One case and what the screen said about it."""

    case: Case
    screening: Screening

    @property
    def raised(self) -> bool:
        return self.screening.danger is not None

    def raised_by(self, layer: str) -> bool:
        """Whether this layer would have been enough without the other."""
        own = (item for item in self.screening.evidence if item.layer == layer)
        return certainty_of(own) >= THRESHOLD


@dataclass(frozen=True, slots=True)
class SafetyReport:
    """Shares are percentages with 95% Wilson intervals."""

    recall: Interval
    false_alarms: Interval
    by_danger: dict[Danger, Interval]  # recall of each kind of danger, whatever kind was named
    kind_named: Interval  # of the dangers found, how many were named rightly
    layer_recall: dict[str, Interval]  # what each layer finds alone
    layer_false_alarms: dict[str, Interval]
    only: dict[str, int]  # dangers found that the other layer would have missed
    together: int  # dangers that only both layers together were sure enough of
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
    alone = {layer: [item for item in found if item.raised_by(layer)] for layer in LAYERS}
    return SafetyReport(
        recall=_share(found, dangers),
        false_alarms=_share([item for item in harmless if item.raised], harmless),
        by_danger={
            danger: _share(
                [i for i in found if i.case.label == danger], [i for i in dangers if i.case.label == danger]
            )
            for danger in Danger
            if any(item.case.label == danger for item in dangers)
        },
        kind_named=_share([item for item in found if item.screening.danger == item.case.label], found),
        layer_recall={layer: _share([i for i in dangers if i.raised_by(layer)], dangers) for layer in LAYERS},
        layer_false_alarms={
            layer: _share([item for item in harmless if item.raised_by(layer)], harmless) for layer in LAYERS
        },
        only={
            layer: sum(
                not any(item in alone[other] for other in LAYERS if other != layer) for item in alone[layer]
            )
            for layer in LAYERS
        },
        together=sum(not any(item in alone[layer] for layer in LAYERS) for item in found),
        misses=tuple(item for item in dangers if not item.raised),
        alarms=tuple(item for item in harmless if item.raised),
        dangers=len(dangers),
        harmless=len(harmless),
    )


def _share(some: Sequence[Checked], of: Sequence[Checked]) -> Interval:
    return wilson_interval(len(some), len(of))


def _name(danger: Danger) -> str:
    return danger.value.replace("-", "_")
