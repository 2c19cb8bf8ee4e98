"""Conversations between two people: emotions, partners, roles, caps, and people who go away. On both databases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from study_making import COLLECT, Hands, frozen_study, open_store, ready_rater, write_study

from allears.conversation import Role
from allears.study.app import StudySettings, create_study_app
from allears.study.blocks import Describe
from allears.study.errors import NotAnsweredError, OutOfStepError
from allears.study.pair_state import PairState, offered_emotions
from allears.study.pairing import Pairing
from allears.study.rows import Rater
from allears.study.session import Sessions
from allears.study.store import Store

WORDS = "My hen escaped over the fence."


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def store(url: str, tmp_path: Path, clock: Hands) -> Iterator[Store]:
    folder = write_study(tmp_path / "hens", COLLECT)
    with open_store(url, folder, clock) as opened:
        yield opened


@pytest.fixture
def pairing(store: Store) -> Pairing:
    return Pairing(store)


def arrive(pairing: Pairing, words: str = WORDS) -> Rater:
    """Somebody who described a situation."""
    rater = ready_rater(pairing.store)
    pairing.describe_situation(rater, pairing.offer(rater)[0], words)
    return rater


def talk(pairing: Pairing, people: tuple[Rater, Rater], lines: int) -> None:
    """Say so many lines in turn."""
    for _ in range(lines):
        for rater in people:
            state = pairing.state(rater)
            if state.your_turn:
                pairing.say(rater, f"Line {len(state.turns)} by {rater.name}.", len(state.turns))
                break


def whole(pairing: Pairing, people: tuple[Rater, Rater]) -> None:
    """Both talks of a pair, as short as they may be."""
    for number in (1, 2):
        talk(pairing, people, 4)
        pairing.finish(people[0], number)


def test_somebody_new_is_offered_the_three_least_used_emotions():
    describe = Describe("x", emotions=("a", "b", "c", "d", "e"))
    used = {"a": 5, "b": 1, "c": 0, "d": 2, "e": 9}
    assert offered_emotions(describe, used, {}, 1, "anna") == ["c", "b", "d"]


def test_somebody_who_comes_again_is_offered_what_they_chose_least_themselves():
    describe = Describe("x", emotions=("a", "b", "c", "d", "e"))
    used = {"a": 5, "b": 1, "c": 0, "d": 2, "e": 9}
    assert offered_emotions(describe, used, {"c": 1, "b": 2}, 1, "anna") == ["d", "a", "e"]


def test_equally_used_emotions_are_offered_by_chance():
    first = {offered_emotions(Describe("x"), {}, {}, 1, f"rater {number}")[0] for number in range(40)}
    assert len(first) > 12


def test_the_offer_stays_the_same_until_a_situation_is_described(pairing: Pairing):
    rater = ready_rater(pairing.store)
    offer = pairing.offer(rater)
    assert pairing.offer(rater) == offer
    with pytest.raises(NotAnsweredError, match="feelings that are offered"):
        pairing.describe_situation(rater, "bored", WORDS)
    with pytest.raises(NotAnsweredError, match="words"):
        pairing.describe_situation(rater, offer[0], "Too short.")
    pairing.describe_situation(rater, offer[2], WORDS)
    pairing.describe_situation(rater, offer[2], WORDS)  # the answer was lost
    with pytest.raises(OutOfStepError):
        pairing.describe_situation(rater, offer[1], WORDS)


def test_emotions_stay_balanced(pairing: Pairing):
    for number in range(64):
        rater = ready_rater(pairing.store)
        pairing.describe_situation(rater, pairing.offer(rater)[number % 3], WORDS)
    with pairing.store.database.reading() as connection:
        used = pairing._used(connection)
    # twice each if everybody took the least used one; they may take the second or the third
    assert len(used) == 32
    assert max(used.values()) - min(used.values()) <= 2


def test_one_waits_and_two_are_paired_as_speaker_and_listener(pairing: Pairing):
    anna = arrive(pairing, "Annas hen escaped.")
    assert pairing.state(anna).state == "waiting"
    ben = arrive(pairing, "Bens hen escaped.")
    states = {rater.name: pairing.state(rater) for rater in (anna, ben)}
    assert Counter(state.role for state in states.values()) == {"speaker": 1, "listener": 1}
    listener = next(state for state in states.values() if state.role == "listener")
    assert (listener.situation, listener.emotion, listener.your_turn) == (None, None, False)
    speaker = next(state for state in states.values() if state.role == "speaker")
    assert "hen escaped" in (speaker.situation or "")
    assert speaker.your_turn


def test_neither_sees_what_the_other_described(pairing: Pairing):
    people = (arrive(pairing, "Annas secret hen escaped."), arrive(pairing, "Bens secret goat escaped."))
    seen: dict[str, list[PairState]] = {rater.name: [] for rater in people}
    for _ in range(16):
        for rater in people:
            seen[rater.name].append(pairing.state(rater))
        if pairing.state(people[0]).state == "talking":
            talk(pairing, people, 1)
    assert "Bens secret" not in str(seen[people[0].name])
    assert "Annas secret" not in str(seen[people[1].name])
    assert "Annas secret" in str(seen[people[0].name])


def test_they_take_turns_and_a_line_sent_again_is_said_once(pairing: Pairing):
    people = (arrive(pairing), arrive(pairing))
    speaker, listener = sorted(people, key=lambda rater: pairing.state(rater).role, reverse=True)
    with pytest.raises(OutOfStepError, match="other person's turn"):
        pairing.say(listener, "Me first!", 0)
    pairing.say(speaker, "My hen is gone.", 0)
    assert len(pairing.say(speaker, "My hen is gone.", 0).turns) == 1
    with pytest.raises(OutOfStepError):
        pairing.say(speaker, "And another thing.", 1)
    with pytest.raises(OutOfStepError, match="quicker"):
        pairing.say(listener, "Me first!", 0)
    state = pairing.say(listener, "Oh no!", 1)
    assert state.turns == (("other", "My hen is gone."), ("you", "Oh no!"))
    with pytest.raises(NotAnsweredError):
        pairing.say(speaker, "  ", 2)


def test_a_talk_has_four_to_eight_lines_and_then_roles_swap(pairing: Pairing):
    people = (arrive(pairing), arrive(pairing))
    first = next(rater for rater in people if pairing.state(rater).role == "speaker")
    talk(pairing, people, 3)
    with pytest.raises(OutOfStepError, match="at least 4"):
        pairing.finish(first, 1)
    talk(pairing, people, 1)
    assert pairing.state(first).may_finish
    state = pairing.finish(first, 1)
    assert (state.talk, state.role, state.turns) == (2, "listener", ())
    assert pairing.finish(people[1], 1).talk == 2  # both pressed the button
    talk(pairing, people, 7)
    assert pairing.state(first).talk == 2
    talk(pairing, people, 1)  # the eighth line ends it
    assert pairing.state(first).state == "over"
    assert [pairing.stage(rater) for rater in people] == ["done", "done"]


def test_collected_conversations_are_in_our_schema(pairing: Pairing):
    people = (arrive(pairing, "Annas hen escaped today."), arrive(pairing, "Bens goat escaped today."))
    whole(pairing, people)
    talks = pairing.conversations()
    assert len(talks) == 2
    assert {each.situation for each in talks} == {"Annas hen escaped today.", "Bens goat escaped today."}
    for each in talks:
        assert each.turns[0].speaker is Role.SEEKER
        assert [turn.speaker for turn in each.turns[:4:2]] == [Role.SEEKER] * 2
        assert {turn.author for turn in each.turns} == {rater.name for rater in people}
        assert each.emotion
        assert each.source == "hens"
    assert talks[0].turns[0].author != talks[1].turns[0].author  # each was the speaker once


def test_who_loses_a_partner_waits_for_another_with_the_same_situation(pairing: Pairing):
    anna, ben = arrive(pairing, "Annas hen escaped."), arrive(pairing)
    talk(pairing, (anna, ben), 2)
    pairing.leave(ben)
    assert pairing.state(anna).state == "left"
    assert pairing.stage(ben) == "describe"
    pairing.requeue(anna)
    assert pairing.state(anna).state == "waiting"
    carl = arrive(pairing)
    assert pairing.state(anna).state == pairing.state(carl).state == "talking"
    assert pairing.conversations() == []


def test_a_partner_without_a_sign_of_life_is_away(pairing: Pairing, clock: Hands):
    anna, ben = arrive(pairing), arrive(pairing)
    clock.now += 30
    pairing.state(anna)
    pairing.requeue(anna)  # too early: they are still a pair
    assert not pairing.state(anna).partner_away
    clock.now += 40
    assert pairing.state(anna).partner_away
    pairing.requeue(anna)
    assert pairing.state(anna).state == "waiting"
    assert pairing.state(ben).state == "left"


def test_who_waits_and_went_away_is_not_paired(pairing: Pairing, clock: Hands):
    gone = arrive(pairing)
    clock.now += 61
    anna = arrive(pairing)
    assert pairing.state(anna).state == "waiting"
    pairing.state(gone)  # back again
    assert pairing.state(anna).state == "talking"


def test_people_meet_somebody_new_where_they_can(pairing: Pairing, clock: Hands):
    people = [arrive(pairing) for _ in range(2)]
    whole(pairing, (people[0], people[1]))
    pairing.describe_situation(people[0], pairing.offer(people[0])[0], WORDS)
    other = ready_rater(pairing.store)
    pairing.offer(other)
    pairing.describe_situation(people[1], pairing.offer(people[1])[0], WORDS)  # only the old partner is there
    assert pairing.state(people[0]).state == "talking"


def test_there_is_a_cap_for_each_person(url: str, tmp_path: Path):
    blocks = COLLECT.replace("away_after = 60", "away_after = 60\nmost_talks = 2\nper_visit = 5")
    with open_store(url, write_study(tmp_path / "hens", blocks)) as store:
        pairing = Pairing(store)
        people = (arrive(pairing), arrive(pairing))
        whole(pairing, people)
        assert pairing.stage(people[0]) == "done"
        with pytest.raises(OutOfStepError, match="as many conversations"):
            pairing.describe_situation(people[0], pairing.offer(people[0])[0], WORDS)


def test_a_withdrawal_takes_the_conversations_with_it(pairing: Pairing):
    people = (arrive(pairing), arrive(pairing))
    whole(pairing, people)
    third, fourth = arrive(pairing), arrive(pairing)
    talk(pairing, (third, fourth), 1)
    pairing.store.withdraw(people[0])
    pairing.store.withdraw(third)
    assert pairing.conversations() == []
    assert pairing.state(fourth).state == "left"
    pairing.requeue(fourth)
    assert pairing.state(fourth).state == "waiting"


def test_a_conversation_survives_a_restart(url: str, tmp_path: Path):
    folder = write_study(tmp_path / "hens", COLLECT)
    with open_store(url, folder) as store:
        people = (arrive(Pairing(store)), arrive(Pairing(store)))
        talk(Pairing(store), people, 3)
        before = Pairing(store).state(people[0])
    with open_store(url, folder) as store:
        assert Pairing(store).state(people[0]) == before


def test_two_pages_talk_over_http_and_hear_of_each_other_in_a_stream(tmp_path: Path):
    design, frozen = frozen_study(write_study(tmp_path / "hens", COLLECT))
    with Store(str(tmp_path / "hens.db"), design, [], frozen.digest) as store:
        app = create_study_app(Sessions(design, frozen, store), StudySettings(rate=1000, burst=1000))
        client = TestClient(app, base_url="http://localhost")

        def ask(token: str, path: str, **body: Any) -> dict[str, Any]:
            answer = client.post(
                f"/api/study/{path}", json=body, headers={"Authorization": f"Bearer {token}"}
            )
            assert answer.status_code == 200, answer.text
            return dict(answer.json())

        tokens = [store.new_link(), store.new_link()]
        for token in tokens:
            ask(token, "consent", agree=True)
            step = ask(token, "begin")
            assert step["stage"] == "describe"
            step = ask(token, "situation", emotion=step["describe"]["emotions"][1], text=WORDS)
            assert step["stage"] == "pair"
        for number in (1, 2):
            for _ in range(4):
                for token in tokens:
                    pair = client.get("/api/study/pair", headers={"Authorization": f"Bearer {token}"}).json()
                    assert pair["talk"] == number
                    if pair["your_turn"]:
                        ask(token, "pair/say", text="Well, well.", number=len(pair["turns"]))
                        break
            last = ask(tokens[0], "pair/finish", talk=number)
        assert last["state"] == "over"
        told = client.get("/api/study/pair/stream", headers={"Authorization": f"Bearer {tokens[1]}"})
        assert told.headers["content-type"].startswith("text/event-stream")
        assert json.loads(told.text.partition("data: ")[2])["state"] == "over"
        assert ask(tokens[1], "next")["stage"] == "done"
