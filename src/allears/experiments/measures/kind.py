"""What a kind of measurement is, and how its command is typed."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from allears.experiments.contract import Measurement, Run

if TYPE_CHECKING:
    from allears.experiments.lab import Lab

Measures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    work: Callable[[Lab, Measurement], Measures]
    rooms: tuple[str, ...]
    command: Callable[[Lab, Measurement], str]
    timed: bool = False  # the numbers are the machine's as well

    @property
    def files(self) -> tuple[str, ...]:
        """Where it is written, besides the rooms that it asks: a change there is another measurement."""
        return (
            "experiments/measures/kind.py",
            f"experiments/measures/{self.work.__module__.rpartition('.')[2]}.py",
        )


def place_of(lab: Lab, model: Run | str) -> str:
    return str(lab.place_of(model)) if isinstance(model, Run) else model


def device_for(lab: Lab, model: Run | str) -> str:
    """A bundle runs on the CPU wherever we are."""
    return lab.setting.device if isinstance(model, Run) else "cpu"


def typed(verb: str) -> Callable[[Lab, Measurement], str]:
    """The command as a person types it, with the run's plain name."""

    def command(lab: Lab, asked: Measurement) -> str:
        words = ["allears", *verb.split()]
        if head := asked.option("head"):
            words.append(head)
        if asked.of:
            words.append(f"runs/{asked.of.name}" if isinstance(asked.of, Run) else asked.of)
        if asked.against:
            other = f"runs/{asked.against.name}" if isinstance(asked.against, Run) else asked.against
            words += ["--against", other]
        for name, value in asked.settings:
            if value is None or name in ("head", "counts", "whole", "persona_similarity"):
                continue
            for each in value if isinstance(value, tuple) else (value,):
                words += [f"--{'pool' if name == 'pools' else name.replace('_', '-')}", str(each)]
        if lab.setting.limit:
            words += ["--limit", str(lab.setting.limit)]
        return shlex.join(words)

    return command
