"""How well the screen does: on single written cases, and turn by turn on whole conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from allears.conversation import Role, Turn
from allears.metrics.significance import Interval, wilson_interval
from allears.safety.cases_file import Case, SafetyTalk
from allears.safety.dangers import DOUBTFUL, LABELS, NO_DANGER, Level, SafetyState, Screening
from allears.safety.screen import CrisisScreen


@dataclass(frozen=True, slots=True)
class Checked:
    """A message that was checked, with what was wanted, and what the screen said about it."""

    text: str
    wanted: str  # a label: none, doubt or a danger
    note: str
    screening: Screening

    @property
    def level(self) -> Level:
        return self.screening.level


@dataclass(frozen=True, slots=True)
class SafetyReport:
    """Shares are percentages with 95% Wilson intervals.

    A danger counts as found where it is raised at all, clear or as a doubt.
    """

    recall: Interval
    recall_clear: Interval
    false_clear: Interval
    false_alarms: Interval  # clear or doubt
    by_danger: dict[str, Interval]
    by_shape: dict[str, Interval]
    kind_named: Interval  # of the clear ones, how many were named rightly
    misses: tuple[Checked, ...]
    alarms: tuple[Checked, ...]
    dangers: int
    harmless: int

    def flat(self) -> dict[str, float | int]:
        """One level of names for machines."""
        named = {
            "recall": self.recall,
            "recall_clear": self.recall_clear,
            "false_alarms": self.false_alarms,
            "false_clear": self.false_clear,
            "kind_named": self.kind_named,
        }
        named |= {f"recall_{name.replace('-', '_')}": found for name, found in self.by_danger.items()}
        numbers: dict[str, float | int] = {}
        for name, found in named.items():
            numbers |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
        return numbers | {"dangers": self.dangers, "harmless": self.harmless}


def evaluate_cases(screen: CrisisScreen, cases: Sequence[Case]) -> SafetyReport:
    """Check every case: its last message, with what was said before it."""
    return _report(
        Checked(case.text, case.label, case.note, screen.check(case.text, case.before)) for case in cases
    )


def evaluate_talks(screen: CrisisScreen, talks: Sequence[SafetyTalk]) -> SafetyReport:
    """Go through every conversation as the listener does; each counts once, by the worst that was raised in it."""
    return _report(_worst(screen, talk) for talk in talks)


def _worst(screen: CrisisScreen, talk: SafetyTalk) -> Checked:
    found = list(walk(screen, talk.turns))
    order = list(Level)
    text, worst = max(found, key=lambda item: (order.index(item[1].level), item[1].certainty))
    wanted = talk.danger if talk.level == "clear" else talk.level
    return Checked(text, wanted, talk.shape, worst)


def walk(screen: CrisisScreen, turns: Sequence[Turn]) -> Iterable[tuple[str, Screening]]:
    """Each message of the person with what the screen says, the state going on from one to the next."""
    state = SafetyState()
    for place, turn in enumerate(turns):
        if turn.speaker is Role.SEEKER:
            found = screen.check(turn.text, turns[:place], state)
            state = found.state
            yield turn.text, found


def _report(checked: Iterable[Checked]) -> SafetyReport:
    items = list(checked)
    dangers = [item for item in items if item.wanted not in (NO_DANGER, DOUBTFUL)]
    harmless = [item for item in items if item.wanted == NO_DANGER]
    raised = _share(lambda item: item.level is not Level.NONE)
    clear = _share(lambda item: item.level is Level.CLEAR)
    named = [item for item in dangers if item.level is Level.CLEAR]
    shapes = Counter(item.note for item in dangers if item.note)
    return SafetyReport(
        recall=raised(dangers),
        recall_clear=clear(dangers),
        false_clear=clear(harmless),
        false_alarms=raised(harmless),
        by_danger={
            label: raised([item for item in dangers if item.wanted == label])
            for label in LABELS
            if any(item.wanted == label for item in dangers)
        },
        by_shape={
            shape: raised([item for item in dangers if item.note == shape])
            for shape, _ in shapes.most_common(20)
        },
        kind_named=_share(lambda item: item.screening.danger == item.wanted)(named),
        misses=tuple(item for item in dangers if item.level is Level.NONE),
        alarms=tuple(item for item in harmless if item.level is not Level.NONE),
        dangers=len(dangers),
        harmless=len(harmless),
    )


def _share(holds: Callable[[Checked], bool]) -> Callable[[Sequence[Checked]], Interval]:
    return lambda items: wilson_interval(sum(map(holds, items)), len(items))
