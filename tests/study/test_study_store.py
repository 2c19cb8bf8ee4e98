"""Units in people's hands, on both databases: nothing too often, nothing lost, nothing twice."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from study_making import (
    CHAT,
    LIKERT,
    PREFERENCE,
    Hands,
    frozen_study,
    open_store,
    ready_rater,
    side_of,
    taken,
    write_study,
)

from allears.errors import AllearsError
from allears.study.errors import NotAnsweredError, NotKnownError, OutOfStepError, TooQuickError
from allears.study.rows import DECLINED, NEW, SCREENED
from allears.study.store import Store

CHECKS = """
[checks]
every = 3
most_failed = 0
[[checks.items]]
turns = ["Please choose 1."]
replies = ["Choose 1, please."]
expect = { empathy = 1 }
"""


def test_every_unit_gets_its_raters_and_nobody_a_unit_twice(url: str, tmp_path: Path):
    with open_store(url, write_study(tmp_path / "a", LIKERT, systems=["one", "three"])) as store:
        for _ in range(3):
            rater = ready_rater(store)
            while (given := store.next(rater)) is not None:
                store.answer(rater, given.key, {"empathy": 3})
        assert store.next(ready_rater(store)) is None
        assert Counter(each.unit.key for each in store.answered()).most_common()[0][1] == 3
        assert Counter((each.rater, each.unit.key) for each in store.answered()).most_common()[0][1] == 1
        count = store.count()
        assert (count.units, count.wanted, count.counted, count.spare) == (8, 24, 24, 0)


def test_a_rater_who_comes_back_continues_where_they_were(url: str, tmp_path: Path):
    folder = write_study(tmp_path / "a", LIKERT, systems=["one"])
    with open_store(url, folder) as store:
        token = store.new_link()
        rater = store.rater(token)
        store.set_state(rater, "ready", after=(NEW,))
        first = taken(store, store.rater(token))
    with open_store(url, folder) as store:
        again = taken(store, store.rater(token))
        assert (again.key, again.unit) == (first.key, first.unit)


def test_a_unit_that_was_given_is_not_given_to_too_many(url: str, tmp_path: Path):
    with open_store(url, write_study(tmp_path / "a", LIKERT, items=1, systems=["one"], per_unit=2)) as store:
        assert store.next(ready_rater(store)) is not None
        assert store.next(ready_rater(store)) is not None
        assert store.next(ready_rater(store)) is None


def test_an_abandoned_unit_returns_to_the_pool(url: str, tmp_path: Path):
    clock = Hands()
    folder = write_study(tmp_path / "a", LIKERT, items=1, systems=["one"], per_unit=1, abandoned_after=600)
    with open_store(url, folder, clock) as store:
        gone, other = ready_rater(store), ready_rater(store)
        left = taken(store, gone)
        assert store.next(other) is None
        clock.now += 601
        found = taken(store, other)
        assert found.unit == left.unit
        store.answer(other, found.key, {"empathy": 4})
        # the first one answers after all: taken with thanks, but one too many to count
        store.answer(gone, left.key, {"empathy": 1})
        assert [(each.state, each.answers["empathy"]) for each in store.answered()] == [
            ("counted", 4),
            ("spare", 1),
        ]
        assert store.count().counted == 1


def test_who_comes_back_late_keeps_the_unit_if_nobody_took_it(url: str, tmp_path: Path):
    clock = Hands()
    folder = write_study(tmp_path / "a", LIKERT, items=1, systems=["one"], per_unit=1, abandoned_after=600)
    with open_store(url, folder, clock) as store:
        rater = ready_rater(store)
        before = taken(store, rater)
        clock.now += 5000
        assert taken(store, rater).key == before.key
        store.answer(rater, before.key, {"empathy": 2})
        assert store.count().counted == 1


def test_who_comes_back_to_a_unit_that_others_took_gets_another(url: str, tmp_path: Path):
    clock = Hands()
    folder = write_study(tmp_path / "a", LIKERT, items=2, systems=["one"], per_unit=1, abandoned_after=600)
    with open_store(url, folder, clock) as store:
        late, other = ready_rater(store), ready_rater(store)
        first = taken(store, late)
        clock.now += 601
        while (given := store.next(other)) is not None and given.unit != first.unit:
            store.answer(other, given.key, {"empathy": 2})
        assert given is not None
        store.answer(other, given.key, {"empathy": 2})
        again = store.next(late)
        assert again is None or again.unit != first.unit


def test_the_same_answer_again_is_stored_once_and_another_is_refused(url: str, tmp_path: Path):
    with open_store(url, write_study(tmp_path / "a", LIKERT, systems=["one"])) as store:
        rater = ready_rater(store)
        key = taken(store, rater).key
        assert store.answer(rater, key, {"empathy": 3}).done == 1
        assert store.answer(rater, key, {"empathy": 3}).done == 1
        with pytest.raises(OutOfStepError, match="answered this already"):
            store.answer(rater, key, {"empathy": 4})
        assert len(store.answered()) == 1


def test_an_answer_that_comes_too_soon_is_not_taken(url: str, tmp_path: Path):
    clock = Hands()
    with open_store(
        url, write_study(tmp_path / "a", LIKERT, systems=["one"], least_seconds=5), clock
    ) as store:
        rater = ready_rater(store)
        key = taken(store, rater).key
        clock.now += 2
        with pytest.raises(TooQuickError) as caught:
            store.answer(rater, key, {"empathy": 3})
        assert caught.value.seconds == pytest.approx(3)
        clock.now += 3
        store.answer(rater, key, {"empathy": 3})
        assert store.answered()[0].seconds == pytest.approx(5)


@pytest.mark.parametrize(
    "answers", [{}, {"empathy": 0}, {"empathy": 6}, {"empathy": "3"}, {"empathy": True}, {"other": 1}]
)
def test_an_answer_that_was_not_offered_is_refused(sqlite_url: str, tmp_path: Path, answers: dict):
    with open_store(sqlite_url, write_study(tmp_path / "a", LIKERT, systems=["one"])) as store:
        rater = ready_rater(store)
        with pytest.raises(NotAnsweredError):
            store.answer(rater, taken(store, rater).key, answers)
        assert store.answered() == []


def test_one_raters_unit_is_not_another_raters(sqlite_url: str, tmp_path: Path):
    with open_store(sqlite_url, write_study(tmp_path / "a", LIKERT, systems=["one"])) as store:
        key = taken(store, ready_rater(store)).key
        with pytest.raises(NotKnownError):
            store.answer(ready_rater(store), key, {"empathy": 3})


def test_a_three_way_split_asks_a_fourth_rater_and_nothing_else_does(url: str, tmp_path: Path):
    folder = write_study(tmp_path / "a", PREFERENCE, items=2, systems=["one", "three"], fourth="better")
    votes = {"0/0": ["one", "three", "tie", "one"], "1/0": ["one", "one", "tie"]}
    with open_store(url, folder) as store:
        given_to: Counter[str] = Counter()
        for _ in range(4):
            rater = ready_rater(store)
            while (given := store.next(rater)) is not None:
                vote = votes[given.unit.key][given_to[given.unit.key]]
                given_to[given.unit.key] += 1
                store.answer(rater, given.key, {"better": side_of(given, vote)})
        assert given_to == {"0/0": 4, "1/0": 3}
        assert {unit.key: unit.votes for unit in store.states()} == {
            key: tuple(each) for key, each in votes.items()
        }
        assert store.next(ready_rater(store)) is None


def test_who_fails_the_checks_does_not_count_and_their_units_are_given_again(url: str, tmp_path: Path):
    folder = write_study(tmp_path / "a", LIKERT, items=4, systems=["one"], per_unit=1, more=CHECKS)
    with open_store(url, folder) as store:
        careless, careful = ready_rater(store), ready_rater(store)
        while store.again(careless).state == "ready":
            given = taken(store, careless)
            store.answer(careless, given.key, {"empathy": 5})
        assert store.again(careless).state == SCREENED
        with pytest.raises(OutOfStepError):
            store.next(careless)
        while (found := store.next(careful)) is not None:
            store.answer(careful, found.key, {"empathy": 1})
        count = store.count()
        assert (count.counted, count.wanted, count.screened) == (4, 4, 1)
        assert {each.state for each in store.answered() if each.rater == careless.name} <= {"screened"}
        assert all(each.unit.check is None for each in store.answered())


def test_a_person_of_another_platform_who_comes_twice_is_one_rater(url: str, tmp_path: Path):
    with open_store(url, write_study(tmp_path / "a", LIKERT, systems=["one"])) as store:
        first = store.enter(store.open_token, prolific="5f0c1d2e3b4a")
        assert store.enter(store.open_token, prolific="5f0c1d2e3b4a") == first
        assert store.enter(store.open_token, mturk="5f0c1d2e3b4a") != first
        assert store.enter(store.open_token) != store.enter(store.open_token)
        assert len(store.people()) == 4
        assert store.find("5f0c1d2e3b4a") == store.rater(first)
        with pytest.raises(NotKnownError):
            store.enter("guess")
        with pytest.raises(NotKnownError):
            store.rater("guess")


def test_withdrawing_deletes_every_answer_and_gives_the_units_back(url: str, tmp_path: Path):
    folder = write_study(tmp_path / "a", LIKERT, items=3, systems=["one"], per_unit=1)
    with open_store(url, folder) as store:
        rater = ready_rater(store)
        for _ in range(2):
            store.answer(rater, taken(store, rater).key, {"empathy": 5})
        taken(store, rater)
        assert store.withdraw(rater) == 3
        assert store.answered() == []
        assert store.count().counted == 0
        assert store.again(rater).state == "withdrawn"
        with pytest.raises(OutOfStepError):
            store.next(rater)
        other = ready_rater(store)
        while (given := store.next(other)) is not None:
            store.answer(other, given.key, {"empathy": 2})
        assert store.count().counted == 3


def test_a_withdrawn_vote_of_a_split_asks_for_another_rater(sqlite_url: str, tmp_path: Path):
    folder = write_study(tmp_path / "a", PREFERENCE, items=1, systems=["one", "three"], fourth="better")
    with open_store(sqlite_url, folder) as store:
        people = []
        for vote in ("one", "three", "tie", "one"):
            rater = ready_rater(store)
            given = taken(store, rater)
            store.answer(rater, given.key, {"better": side_of(given, vote)})
            people.append(rater)
        assert store.next(ready_rater(store)) is None
        store.withdraw(people[1])  # one, tie, one: a majority of three
        assert store.next(ready_rater(store)) is None
        store.withdraw(people[3])  # one, tie: a third is wanted
        assert store.next(ready_rater(store)) is not None


def test_who_declines_is_given_nothing(sqlite_url: str, tmp_path: Path):
    with open_store(sqlite_url, write_study(tmp_path / "a", LIKERT, systems=["one"])) as store:
        rater = store.rater(store.new_link())
        store.set_state(rater, DECLINED, after=(NEW,))
        with pytest.raises(OutOfStepError):
            store.next(store.again(rater))


def test_chats_are_kept_line_by_line_and_needed_before_an_answer(url: str, tmp_path: Path):
    systems = "".join(
        f'\n[[systems]]\nname = "{name}"\nendpoint = "http://a/v1"\nmodel = "m"\n' for name in "xy"
    )
    with open_store(url, write_study(tmp_path / "a", CHAT, more=systems)) as store:
        rater = ready_rater(store)
        given = taken(store, rater)
        with pytest.raises(OutOfStepError, match="at least 2 lines"):
            store.answer(rater, given.key, {"overall": "tie"})
        for side in (0, 1):
            store.add_exchange(rater, given.key, side, 0, "Hello \x00 \ud83d", "Hello.")
            store.add_exchange(rater, given.key, side, 0, "Hello", "Something else.")  # sent again
            store.add_exchange(rater, given.key, side, 2, "Bye", "Bye.")
        with pytest.raises(OutOfStepError):
            store.add_exchange(rater, given.key, 0, 8, "Hello", "Hello.")
        assert [line for line, _ in store.chat(given, 0)] == ["Hello \x00 \ud83d", "Hello.", "Bye", "Bye."]
        store.answer(rater, given.key, {"overall": "tie"})


def test_two_studies_share_a_database_without_meeting(url: str, tmp_path: Path):
    with (
        open_store(url, write_study(tmp_path / "a", LIKERT, items=1, systems=["one"])) as one,
        open_store(url, write_study(tmp_path / "b", LIKERT, items=2, systems=["one"])) as other,
    ):
        rater = ready_rater(one)
        one.answer(rater, taken(one, rater).key, {"empathy": 3})
        assert other.answered() == []
        assert (one.count().units, other.count().units) == (1, 2)
        with pytest.raises(NotKnownError):
            other.rater(one.new_link())


def test_a_database_of_another_version_is_refused(sqlite_url: str, tmp_path: Path):
    from sqlalchemy import update

    from allears.study.tables import versions

    folder = write_study(tmp_path / "a", LIKERT, systems=["one"])
    with open_store(sqlite_url, folder) as store, store.database.writing() as connection:
        connection.execute(update(versions).values(version=99))
    with pytest.raises(AllearsError, match="another allears"):
        open_store(sqlite_url, folder)


def test_the_database_itself_takes_no_second_answer_of_a_rater_to_a_unit(sqlite_url: str, tmp_path: Path):
    from sqlalchemy import insert
    from sqlalchemy.exc import IntegrityError

    from allears.study.tables import assignments

    design, frozen = frozen_study(write_study(tmp_path / "a", LIKERT, systems=["one"]))
    assert isinstance(design.name, str)
    assert frozen.digest
    with open_store(sqlite_url, tmp_path / "a") as store:
        assert isinstance(store, Store)
        rater = ready_rater(store)
        given = taken(store, rater)
        unit = next(key for key, each in store._units.items() if each == given.unit)
        row = {
            "key": "x",
            "rater": rater.id,
            "unit": unit,
            "sides": "0",
            "state": "open",
            "given": 0.0,
            "touched": 0.0,
        }
        with pytest.raises(IntegrityError), store.database.writing() as connection:
            connection.execute(insert(assignments).values(**row))


def test_many_who_ask_at_the_same_moment_at_two_servers_do_not_get_a_unit_too_often(url: str, tmp_path: Path):
    folder = write_study(tmp_path / "a", LIKERT, items=2, systems=["one"], per_unit=3)
    with open_store(url, folder) as one, open_store(url, folder) as other:
        people = [ready_rater(one) for _ in range(24)]
        start = threading.Barrier(len(people))

        def ask(place: int) -> str:
            start.wait()
            given = (one, other)[place % 2].next(people[place])
            return given.unit.key if given is not None else ""

        with ThreadPoolExecutor(len(people)) as pool:
            got = Counter(pool.map(ask, range(len(people))))
    assert got == {"0/0": 3, "1/0": 3, "": 18}


def test_the_same_seed_and_the_same_arrivals_give_the_same_assignment(tmp_path: Path):
    def assigned(database: str, folder: Path) -> list[tuple[str, tuple[int, ...]]]:
        with open_store(str(tmp_path / database), folder) as store:
            found = []
            for _ in range(3):
                rater = ready_rater(store)
                while (given := store.next(rater)) is not None:
                    found.append((given.unit.key, given.order))
                    store.answer(rater, given.key, {"better": "tie"})
            return found

    folder = write_study(tmp_path / "a", PREFERENCE, items=6, systems=["one", "three"])
    first = assigned("1.db", folder)
    assert assigned("2.db", folder) == first
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace("seed = 7", "seed = 8"))
    assert assigned("3.db", folder) != first
