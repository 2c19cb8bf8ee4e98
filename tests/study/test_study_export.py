"""What a study gives away: answers under random names, and nothing that says who somebody is."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from study_making import (
    CHAT,
    COLLECT,
    PREFERENCE,
    frozen_study,
    open_store,
    ready_rater,
    side_of,
    taken,
    write_study,
)

from allears.conversation import Conversation
from allears.study.export import export, without_names
from allears.study.pairing import Pairing

LIVE = "".join(f'\n[[systems]]\nname = "{name}"\nendpoint = "http://a/v1"\nmodel = "m"\n' for name in "xy")
COMMENT = '[[blocks]]\ntype = "free"\nkey = "comment"\ntext = "Anything else?"\n'
TELLING = "=Jennifer wrote to jenny@example.org and called 555-123-4567."
TOLD = ("Jennifer", "jenny@example.org", "555-123-4567")


def test_answers_are_exported_with_the_letters_taken_off(tmp_path: Path, sqlite_url: str):
    folder = write_study(tmp_path / "a", PREFERENCE + COMMENT, items=1, systems=["one", "three"])
    with open_store(sqlite_url, folder) as store:
        for vote in ("one", "three", "tie"):
            rater = ready_rater(store)
            given = taken(store, rater)
            store.answer(rater, given.key, {"better": side_of(given, vote), "comment": TELLING})
        files = export(*frozen_study(folder), store, tmp_path / "out")
        assert [file.name for file in files] == ["answers.csv", "answers.jsonl"]
        rows = [json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text().splitlines()]
        assert [row["value"] for row in rows if row["question"] == "better"] == ["one", "three", "tie"]
        read = list(csv.DictReader(io.StringIO((tmp_path / "out" / "answers.csv").read_text())))
        assert len(read) == 6
        assert read[1]["value"].startswith("'=")  # no spreadsheet runs it


def test_no_export_says_who_somebody_is(tmp_path: Path, sqlite_url: str):
    folder = write_study(tmp_path / "a", PREFERENCE + COMMENT, items=1, systems=["one", "three"])
    with open_store(sqlite_url, folder) as store:
        token = store.enter(store.open_token, prolific="5f0c1d2e3b4a59687")
        rater = store.rater(token)
        store.set_state(rater, "ready", after=("new",))
        given = taken(store, store.again(rater))
        store.answer(rater, given.key, {"better": "A", "comment": TELLING})
        files = export(*frozen_study(folder), store, tmp_path / "out")
        written = "".join(file.read_text() for file in files)
        for secret in (token, "5f0c1d2e3b4a59687", rater.code, store.open_token, given.key, *TOLD):
            assert secret not in written
        assert rater.name in written
    database = Path(sqlite_url.removeprefix("sqlite:///"))
    kept = b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))
    assert b"5f0c1d2e3b4a59687" not in kept  # the platform's id is not even stored
    assert token.encode() not in kept


def test_chats_are_exported_by_system_and_masked(tmp_path: Path, sqlite_url: str):
    folder = write_study(tmp_path / "a", CHAT, items=1, more=LIVE)
    with open_store(sqlite_url, folder) as store:
        rater = ready_rater(store)
        given = taken(store, rater)
        for side in (0, 1):
            for number in (0, 2):
                store.add_exchange(rater, given.key, side, number, TELLING, f"I am system {side}.")
        store.answer(rater, given.key, {"overall": side_of(given, "x")})
        export(*frozen_study(folder), store, tmp_path / "out")
    rows = [json.loads(line) for line in (tmp_path / "out" / "chats.jsonl").read_text().splitlines()]
    assert [(row["system"], row["turns"][1]["text"]) for row in rows] == [
        ("x", "I am system 0."),
        ("y", "I am system 1."),
    ]
    assert not any(name in str(rows) for name in TOLD)


def test_collected_conversations_are_exported_as_a_corpus(tmp_path: Path, sqlite_url: str):
    folder = write_study(tmp_path / "hens", COLLECT)
    with open_store(sqlite_url, folder) as store:
        pairing = Pairing(store)
        people = [ready_rater(store) for _ in range(2)]
        for rater in people:
            pairing.describe_situation(rater, pairing.offer(rater)[0], TELLING)
        for talk in (1, 2):
            for number in range(4):
                speaker = next(rater for rater in people if pairing.state(rater).your_turn)
                pairing.say(speaker, TELLING, number)
            pairing.finish(people[0], talk)
        export(*frozen_study(folder), store, tmp_path / "out")
    written = (tmp_path / "out" / "conversations.jsonl").read_text()
    assert not any(name in written for name in TOLD)
    assert [len(Conversation.from_json(line).turns) for line in written.splitlines()] == [4, 4]


def test_a_withdrawn_persons_words_are_gone_from_the_file(tmp_path: Path, sqlite_url: str):
    folder = write_study(tmp_path / "a", PREFERENCE + COMMENT, items=1, systems=["one", "three"])
    with open_store(sqlite_url, folder) as store:
        rater = ready_rater(store)
        store.answer(rater, taken(store, rater).key, {"better": "A", "comment": "Unmistakable words."})
        store.withdraw(rater)
        files = export(*frozen_study(folder), store, tmp_path / "out")
        assert "Unmistakable" not in "".join(file.read_text() for file in files)
    database = Path(sqlite_url.removeprefix("sqlite:///"))
    assert b"Unmistakable" not in b"".join(
        path.read_bytes() for path in database.parent.glob(f"{database.name}*")
    )


@pytest.mark.parametrize("text", ["I like my hen.", "Will you mark it?"])
def test_ordinary_words_stay(text: str):
    assert without_names(text) == text
