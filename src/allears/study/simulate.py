"""A dry run: simulated raters of known quality go through the same sessions, assignment and store as people will.

It checks the whole way (nobody answers a unit twice, no unit gets too many or too few, nothing is lost) and shows what
a design can find before anybody is paid.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from allears.conversation import Turn
from allears.study import assignment, seeded
from allears.study.analysis.judgements import Judgement
from allears.study.analysis.means import holm
from allears.study.analysis.preferences import compared, preferred, score, verdicts
from allears.study.analysis.ratings import system_tests
from allears.study.answers import by_system
from allears.study.blocks import ChoiceQuestion, Likert
from allears.study.design import Design
from allears.study.frozen import Frozen
from allears.study.items import group_of
from allears.study.rows import COUNTED, Rater
from allears.study.session import Sessions
from allears.study.store import Store
from allears.study.truth import Truth
from allears.study.units import build_units

ROUNDS = 20
PATIENCE = 20.0  # seconds that a simulated person waits for a partner
_LINES = (
    "I would like to tell you something.",
    "It has been on my mind.",
    "What do you think?",
    "Thank you.",
)


@dataclass(frozen=True, slots=True)
class Crowd:
    """`quality`: the chance that a rater reads before they answer. `careless`: the share who never do.
    `leaving`: the chance that somebody goes away in the middle of a unit."""

    at_once: int = 50
    quality: float = 0.9
    careless: float = 0.0
    leaving: float = 0.0


@dataclass(frozen=True, slots=True)
class DryRun:
    """How it went. `over` and `under`: units with more or fewer answers than they want; `lost`: answers that were
    acknowledged and are not in the store."""

    raters: int
    screened: int
    left: int
    answers: int
    wanted: int
    over: int
    under: int
    lost: int
    twice: int
    fourth: int
    conversations: int
    seconds: float

    @property
    def is_well(self) -> bool:
        return not (self.over or self.under or self.lost or self.twice)


class ShiftedClock:
    """The real clock, which can be put forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


class Parrot:
    """A system for a dry run of a chat: no model is opened."""

    def reply(self, turns: Sequence[Turn], persona: Sequence[str] = (), *, seed: int = 0) -> str:
        return f"You said: {turns[-1].text}"


def dry_run(
    design: Design, frozen: Frozen, url: str, crowd: Crowd, *, effect: float = 0.5, seed: int = 0
) -> DryRun:
    """Let simulated raters answer until every unit has what it wants. Nobody waits: minimum times are left out."""
    started = time.monotonic()
    quick = replace(design, raters=replace(design.raters, least_seconds=0.0))
    clock = ShiftedClock()
    with Store(url, quick, build_units(quick, frozen), frozen.digest, clock=clock) as store:
        talkers = {system.name: Parrot() for system in design.systems}
        sessions = Sessions(quick, frozen, store, talkers, sleep=lambda _: None)
        simulation = Simulation(sessions, Truth(quick, effect, seed), crowd, seed)
        if design.collects:
            simulation.round(crowd.at_once)
        else:
            for _ in range(ROUNDS):
                missing = sum(assignment.missing(unit, quick.raters) for unit in store.states())
                if not missing:
                    break
                each = min(quick.raters.units, len(store.states()))
                simulation.round(max(quick.raters.per_unit + 1, ceil(missing / each)))
                clock.ahead += quick.raters.abandoned_after + 1
        return simulation.result(time.monotonic() - started)


class Simulation:
    """Simulated people at one study. `acknowledged`: the units whose answers they were told are stored."""

    def __init__(self, sessions: Sessions, truth: Truth, crowd: Crowd, seed: int) -> None:
        self.sessions, self.truth, self.crowd, self.seed = sessions, truth, crowd, seed
        self.acknowledged: list[str] = []
        self.left = 0
        self.came = 0

    def round(self, people: int) -> None:
        """So many new people, as many at once as the crowd says."""
        tokens = [self.sessions.store.new_link() for _ in range(people)]
        first, self.came = self.came, self.came + people
        with ThreadPoolExecutor(self.crowd.at_once) as pool:
            done = [pool.submit(self.person, token, first + place) for place, token in enumerate(tokens)]
            for each in done:
                each.result()

    def person(self, token: str, number: int) -> None:
        """One person, from consent to the end."""
        store, sessions = self.sessions.store, self.sessions
        rater = store.rater(token)
        sessions.consent(rater, True)
        rater = store.again(rater)
        sessions.begin(rater)
        careless = self._chance(number, "careless") < self.crowd.careless
        while True:
            rater = store.again(rater)
            step = sessions.step(rater)
            if step["stage"] == "unit":
                if self._chance(number, step["unit"]["key"], "leaves") < self.crowd.leaving:
                    self.left += 1
                    return
                quality = 0.0 if careless else self.crowd.quality
                self._answer(rater, step["unit"]["key"], number, quality)
            elif step["stage"] == "describe":
                emotions: list[str] = step["describe"]["emotions"]
                sessions.describe(rater, emotions[0], "Something happened to me that I remember well.")
            elif step["stage"] == "pair":
                if not self._talk(rater):
                    return
            else:
                return

    def _answer(self, rater: Rater, key: str, number: int, quality: float) -> None:
        given = self.sessions.store.given(rater, key)
        who = f"rater {number}"  # not by the random name: the same seed gives the same people
        answers = self.truth.answers(given.unit, given.order, who, quality)
        if given.unit.check is not None:
            answers |= self._check_answers(given.unit.check, given.order, reads=quality > 0)
            self.sessions.answer(rater, key, answers)
            return
        chat = self.sessions.design.chat
        for side in "AB"[: chat.systems] if chat is not None else "":
            for turn in range(chat.least_turns if chat is not None else 0):
                self.sessions.say(rater, key, side, 2 * turn, _LINES[turn % len(_LINES)])
        self.sessions.answer(rater, key, answers)
        self.acknowledged.append(key)

    def _check_answers(self, check: int, order: Sequence[int], *, reads: bool) -> dict[str, Any]:
        """Whoever reads does what a check says; who does not misses it."""
        design = self.sessions.design
        found: dict[str, Any] = {}
        for key, expected in design.checks.items[check].expect.items():
            name, _, side = key.partition(".")
            place = f"{name}.{'AB'[list(order).index('AB'.index(side))]}" if side else key
            value = expected
            if expected in ("first", "second"):
                value = "AB"[list(order).index(0 if expected == "first" else 1)]
            found[place] = value if reads else _another(design, name, value)
        return found

    def _talk(self, rater: Rater) -> bool:
        """Both talks with whoever comes; False if nobody did."""
        waited = time.monotonic()
        while True:
            state = self.sessions.pair(rater)
            if state["state"] == "talking" and state["your_turn"]:
                lines = len(state["turns"])
                if state["may_finish"]:
                    self.sessions.pair_finish(rater, state["talk"])
                else:
                    self.sessions.pair_say(rater, _LINES[lines % len(_LINES)], lines)
                waited = time.monotonic()
            elif state["state"] in ("over", "left"):
                return True
            elif time.monotonic() - waited > PATIENCE or self._is_last(state):
                self.sessions.pair_leave(rater)
                return False
            else:
                time.sleep(0.02)

    def _is_last(self, state: dict[str, Any]) -> bool:
        """With an odd number of people one finds no partner."""
        return bool(state["state"] == "waiting" and state["waited_seconds"] >= 3)

    def result(self, seconds: float) -> DryRun:
        store = self.sessions.store
        answered = store.answered()
        stored = {each.key for each in answered}
        states = store.states()
        raters = store.design.raters
        both = Counter((each.rater, each.unit.key) for each in answered)
        count = store.count()
        pairing = self.sessions.pairing
        return DryRun(
            raters=self.came,
            screened=count.screened,
            left=self.left,
            answers=sum(each.state == COUNTED for each in answered),
            wanted=count.wanted,
            over=sum(len(unit.votes) > assignment.wanted(unit.votes, raters) for unit in states),
            under=sum(assignment.missing(unit, raters) > 0 for unit in states),
            lost=sum(key not in stored for key in self.acknowledged),
            twice=sum(times > 1 for times in both.values()),
            fourth=sum(len(unit.votes) > raters.per_unit for unit in states),
            conversations=len(pairing.conversations()) if pairing is not None else 0,
            seconds=seconds,
        )

    def _chance(self, *words: object) -> float:
        return seeded.number(self.seed, *words) / 2**64


def _another(design: Design, key: str, value: Any) -> Any:
    """An answer that may be given and is not this one."""
    question = design.question(key)
    if isinstance(question, Likert):
        return value % question.points + 1
    if isinstance(question, ChoiceQuestion):
        return next(option.key for option in question.options if option.key != value)
    return "A" if value != "A" else "B"


# --- power


@dataclass(frozen=True, slots=True)
class Power:
    """How often a study of this design would find that one system is better: the share of simulated studies."""

    question: str
    better: str
    worse: str
    share: float


def simulated_judgements(
    design: Design, frozen: Frozen, crowd: Crowd, *, effect: float, seed: int
) -> list[Judgement]:
    """A whole study's judgements without a database: every unit by as many raters as it wants."""
    truth = Truth(design, effect, seed)
    found: list[Judgement] = []
    for unit in build_units(design, frozen):
        if unit.check is not None:
            continue
        item = frozen.items[unit.item].talk
        order = tuple(range(design.shown_systems))
        for number in range(design.raters.per_unit):
            answers = truth.answers(unit, order, f"rater {number}", crowd.quality)
            for question, system, value in by_system(design, answers, unit.systems, order):
                found.append(
                    Judgement(
                        f"rater {number}", unit.key, unit.item, question, value, system, unit.systems,
                        item.emotion or "", group_of(item, design.items),
                    )
                )  # fmt: skip
    return found


def power_of(
    design: Design,
    frozen: Frozen,
    crowd: Crowd,
    *,
    effect: float = 0.5,
    studies: int = 50,
    seed: int = 0,
    watch: Callable[[Sequence[Any], str], Any] = lambda items, what: items,
) -> list[Power]:
    """Simulate many studies and count how often each comparison is significant after Holm's correction."""
    hits: Counter[tuple[str, str, str]] = Counter()
    names = [system.name for system in design.systems]
    for number in watch(list(range(studies)), "simulating studies"):
        rows = simulated_judgements(design, frozen, crowd, effect=effect, seed=seed + number)
        for question, larger, smaller, _, corrected in system_tests(design, rows):
            if corrected < design.analysis.alpha and names.index(larger) < names.index(smaller):
                hits[question, larger, smaller] += 1
        for asked in preferred(design):
            decided, _ = verdicts(design, rows, asked.key)
            scores = [score(decided, one, other) for one, other in compared(design)]
            for each, p in zip(scores, holm([each.p for each in scores]), strict=True):
                better, worse = sorted((each.system, each.against), key=names.index)
                ahead = each.wins > each.losses if each.system == better else each.losses > each.wins
                if p < design.analysis.alpha and ahead:
                    hits[asked.key, better, worse] += 1
    reference = design.analysis.reference
    every = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    if design.shown_systems == 2:
        pairs = [
            (one, other)
            for one, other in every
            if {one, other} in [set(pair) for pair in design.system_pairs()]
        ]
        keys = [question.key for question in preferred(design)]
    else:
        pairs = [pair for pair in every if not reference or reference in pair]
        keys = [question.key for question in design.questions]
    return [
        Power(key, one, other, hits[key, one, other] / studies)
        for key in keys
        for one, other in pairs
        if studies
    ]
