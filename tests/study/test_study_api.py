"""What a participant's page asks and gets; and that nothing in it gives a system away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from study_making import CHAT, LIKERT, PREFERENCE, frozen_study, write_study

from allears.study.app import StudySettings, create_study_app
from allears.study.session import Sessions
from allears.study.simulate import Parrot
from allears.study.store import Store
from allears.study.units import build_units

SECRET = ["Zebra-model", "Quokka-model"]
LIVE = "".join(f'\n[[systems]]\nname = "{name}"\nendpoint = "http://a/v1"\nmodel = "m"\n' for name in SECRET)


class Pages:
    """A study's server and the pages of its raters."""

    def __init__(self, folder: Path, database: str) -> None:
        self.design, self.frozen = frozen_study(folder)
        self.store = Store(database, self.design, build_units(self.design, self.frozen), self.frozen.digest)
        talkers = {system.name: Parrot() for system in self.design.systems}
        sessions = Sessions(self.design, self.frozen, self.store, talkers, sleep=lambda _: None)
        app = create_study_app(sessions, StudySettings(rate=1000, burst=1000))
        self.client = TestClient(app, base_url="http://localhost", raise_server_exceptions=False)

    def ask(self, token: str, path: str, body: Any = None, status: int = 200) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}"}
        answer = self.client.post(
            f"/api/study/{path}", json=body if body is not None else {}, headers=headers
        )
        assert answer.status_code == status, answer.text
        return dict(answer.json())

    def begin(self, token: str | None = None) -> tuple[str, dict[str, Any]]:
        """A rater who agreed and read, with their first unit."""
        token = token or self.store.new_link()
        self.ask(token, "consent", {"agree": True})
        return token, self.ask(token, "begin")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    made: list[Pages] = []

    def open_pages(blocks: str, **options: Any) -> Pages:
        folder = write_study(tmp_path / f"study-{len(made)}", blocks, **options)
        made.append(Pages(folder, str(tmp_path / f"{len(made)}.db")))
        return made[-1]

    yield open_pages
    for each in made:
        each.store.close()


def replies(unit: dict[str, Any]) -> dict[str, str]:
    return {
        each["side"]: each["text"]
        for block in unit["blocks"]
        if block["type"] == "replies"
        for each in block["replies"]
    }


def test_a_rater_goes_from_consent_to_the_end(opened: Any):
    pages = opened(LIKERT, items=2, systems=["one"], per_unit=1)
    token = pages.store.new_link()
    assert pages.ask(token, "next")["stage"] == "consent"
    assert pages.ask(token, "consent", {"agree": True})["stage"] == "instructions"
    step = pages.ask(token, "begin")
    for done in range(2):
        assert step["stage"] == "unit"
        assert step["progress"] == {"done": done, "of": 2}
        again = pages.ask(token, "next")  # the page was closed and opened again
        assert again == step
        told = pages.ask(token, f"units/{step['unit']['key']}/answers", {"answers": {"empathy": 4}})
        assert told == {"stored": True, "progress": {"done": done + 1, "of": 2}}
        step = pages.ask(token, "next")
    assert step["stage"] == "done"
    assert len(step["done"]["code"]) == 9


def test_who_declines_answers_nothing_and_may_think_again(opened: Any):
    pages = opened(LIKERT, systems=["one"])
    token = pages.store.new_link()
    step = pages.ask(token, "consent", {"agree": False})
    assert (step["stage"], step["done"]["code"]) == ("declined", None)
    assert pages.ask(token, "next")["stage"] == "declined"
    assert pages.ask(token, "consent", {"agree": True})["stage"] == "instructions"


def test_a_unit_shows_its_blocks_in_order(opened: Any):
    pages = opened(LIKERT, items=1, systems=["one"])
    _, step = pages.begin()
    assert [block["type"] for block in step["unit"]["blocks"]] == ["conversation", "replies", "likert"]
    talk, said, scale = step["unit"]["blocks"]
    assert talk["turns"] == [{"speaker": "speaker", "text": "Our hen laid egg number 0 today."}]
    assert said["replies"] == [{"side": "A", "text": "That is 3 times good news."}]
    assert (scale["key"], scale["points"], scale["anchors"]["3"]) == ("empathy", 5, "somewhat")


def test_an_open_link_lets_people_in_and_a_wrong_one_does_not(opened: Any):
    pages = opened(LIKERT, systems=["one"])
    enter = lambda **body: pages.client.post("/api/study/enter", json=body)  # noqa: E731
    assert enter(open="wrong").status_code == 403
    assert enter().status_code == 403
    token = enter(open=pages.store.open_token, prolific="60aa").json()["token"]
    assert enter(open=pages.store.open_token, prolific="60aa").json()["token"] == token
    assert pages.ask(token, "next")["stage"] == "consent"
    assert pages.client.post("/api/study/next", json={}).status_code == 401
    pages.ask("not-a-token", "next", status=401)


def test_prolifics_people_are_sent_back_with_its_code(opened: Any):
    returning = '\n[returning]\nprolific_done = "C1DONE"\nprolific_declined = "C3NO"\n'
    pages = opened(LIKERT, items=1, systems=["one"], per_unit=1, more=returning)
    come = lambda who: pages.store.enter(pages.store.open_token, prolific=who)  # noqa: E731
    token, step = pages.begin(come("p1"))
    pages.ask(token, f"units/{step['unit']['key']}/answers", {"answers": {"empathy": 4}})
    done = pages.ask(token, "next")["done"]
    assert (done["code"], done["return_url"]) == (
        None,
        "https://app.prolific.com/submissions/complete?cc=C1DONE",
    )
    declined = pages.ask(come("p2"), "consent", {"agree": False})["done"]
    assert declined["return_url"].endswith("cc=C3NO")
    worker = pages.store.enter(pages.store.open_token, mturk="w1")
    pages.begin(worker)
    assert pages.ask(worker, "next")["done"]["code"]


def test_problems_are_one_sentence_with_their_status(opened: Any):
    pages = opened(LIKERT, systems=["one"], least_seconds=30)
    token, step = pages.begin()
    path = f"units/{step['unit']['key']}/answers"
    assert "Please answer" in pages.ask(token, path, {"answers": {}}, 422)["error"]
    headers = {"Authorization": f"Bearer {token}"}
    quick = pages.client.post(f"/api/study/{path}", json={"answers": {"empathy": 3}}, headers=headers)
    assert (quick.status_code, quick.headers["retry-after"]) == (425, "30")
    pages.ask(token, "units/ffff/answers", {"answers": {"empathy": 3}}, 404)
    pages.ask(token, path, {"answers": {"empathy": 3.5}}, 422)
    pages.ask(token, path, {"answer": {}}, 422)
    pages.ask(token, "withdraw", {"sure": False}, 422)
    pages.ask(token, "situation", {"emotion": "proud", "text": "x"}, 409)


def test_two_answers_for_one_unit_do_not_go_together(opened: Any):
    pages = opened(LIKERT, systems=["one"])
    token, step = pages.begin()
    path = f"units/{step['unit']['key']}/answers"
    first = pages.ask(token, path, {"answers": {"empathy": 3}})
    assert pages.ask(token, path, {"answers": {"empathy": 3}}) == first
    pages.ask(token, path, {"answers": {"empathy": 2}}, 409)


def test_withdrawing_deletes_and_is_final(opened: Any):
    pages = opened(LIKERT, systems=["one"])
    token, step = pages.begin()
    pages.ask(token, f"units/{step['unit']['key']}/answers", {"answers": {"empathy": 3}})
    assert pages.ask(token, "withdraw", {"sure": True})["stage"] == "withdrawn"
    assert pages.store.answered() == []
    assert pages.ask(token, "next")["stage"] == "withdrawn"
    assert pages.ask(token, "consent", {"agree": True})["stage"] == "withdrawn"


# --- blinding


def everything_sent(pages: Pages, raters: int, answers: dict[str, Any]) -> list[str]:
    """Every byte that raters get on their way through the study, headers included."""
    sent: list[str] = []

    def note(response: Any) -> None:
        response.read()
        sent.append(response.text + json.dumps(dict(response.headers)))

    pages.client.event_hooks["response"].append(note)
    pages.client.get("/api/study")
    for _ in range(raters):
        token, step = pages.begin()
        while step["stage"] == "unit":
            key = step["unit"]["key"]
            for side in "AB" if pages.design.chat is not None else "":
                for number in (0, 2):
                    pages.ask(
                        token, f"units/{key}/chat", {"side": side, "number": number, "text": "Hello there."}
                    )
            pages.ask(token, f"units/{key}/answers", {"answers": answers})
            step = pages.ask(token, "next")
    pages.client.event_hooks["response"].clear()
    return sent


@pytest.mark.parametrize(
    ("blocks", "options", "answers"),
    [
        (LIKERT, {"systems": SECRET}, {"empathy": 3}),
        (PREFERENCE, {"systems": SECRET}, {"better": "A"}),
        (CHAT, {"more": LIVE}, {"overall": "tie"}),
    ],
    ids=["rating", "preference", "chat"],
)
def test_nothing_that_is_sent_names_a_system_an_item_or_a_unit(opened: Any, blocks, options, answers):
    pages = opened(blocks, items=3, **options)
    sent = everything_sent(pages, 3, answers)
    assert len(sent) > 15
    hidden = [*SECRET, "outputs", "endpoint", ".jsonl", *(f"item-{number}" for number in range(3))]
    hidden += [f'"{unit.key}"' for unit in build_units(pages.design, pages.frozen)]
    assert [(word, text) for text in sent for word in hidden if word.lower() in text.lower()] == []


def test_the_same_unit_has_another_key_for_every_rater(opened: Any):
    pages = opened(PREFERENCE, items=1, systems=SECRET)
    keys = [pages.begin()[1]["unit"]["key"] for _ in range(3)]
    assert len(set(keys)) == 3
    assert all(len(key) == 32 for key in keys)


def test_neither_letter_nor_order_tells_which_system_it_is(opened: Any):
    pages = opened(PREFERENCE, items=20, systems=SECRET, per_unit=2)
    first: list[bool] = []
    unlike = 0
    for _ in range(2):
        token, step = pages.begin()
        order = []
        while step["stage"] == "unit":
            shown = replies(step["unit"])
            order.append(shown["A"] == "That is 11 times good news.")  # Zebra's words
            pages.ask(token, f"units/{step['unit']['key']}/answers", {"answers": {"better": "A"}})
            step = pages.ask(token, "next")
        assert len(order) == 20
        unlike += sum(one != other for one, other in pairwise(order))
        first += order
    assert sum(first) == 20  # each unit was shown once each way
    assert 8 < unlike < 31  # and no pattern within a rater
    assert {each.answers["better"] for each in pages.store.answered()} == {"A"}


def test_a_check_counts_like_any_unit(opened: Any):
    check = '\n[checks]\nevery = 2\n[[checks.items]]\nturns = ["Hello."]\nreplies = ["Hi."]\nexpect = { empathy = 1 }\n'
    pages = opened(LIKERT + check, items=3, systems=["one"], per_unit=1)
    token = pages.store.new_link()
    pages.ask(token, "consent", {"agree": True})
    step, shown = pages.ask(token, "begin"), []
    while step["stage"] == "unit":
        shown.append(step["progress"])
        pages.ask(token, f"units/{step['unit']['key']}/answers", {"answers": {"empathy": 1}})
        step = pages.ask(token, "next")
    assert shown == [{"done": done, "of": 4} for done in range(4)]  # three units and a check


def test_a_check_looks_like_any_unit(opened: Any):
    check = '\n[checks]\nevery = 2\n[[checks.items]]\nturns = ["Hello."]\nreplies = ["Hi."]\nexpect = { empathy = 1 }\n'
    pages = opened(LIKERT, items=4, systems=["one"], more=check)
    token, step = pages.begin()
    shapes = set()
    while step["stage"] == "unit":
        unit = step["unit"]
        shapes.add(json.dumps([sorted(unit), [(block["type"], sorted(block)) for block in unit["blocks"]]]))
        answer = 1 if replies(unit) == {"A": "Hi."} else 4
        pages.ask(token, f"units/{unit['key']}/answers", {"answers": {"empathy": answer}})
        step = pages.ask(token, "next")
    assert step["stage"] == "done"
    assert len(shapes) == 1


# --- chats


def test_two_listeners_answer_and_a_reload_shows_both_conversations(opened: Any):
    pages = opened(CHAT, items=1, more=LIVE)
    token, step = pages.begin()
    key = step["unit"]["key"]
    say = lambda **body: pages.ask(token, f"units/{key}/chat", body)  # noqa: E731
    told = say(side="A", number=0, text="  I am tired. ")
    assert told == {
        "turns": [
            {"speaker": "you", "text": "I am tired."},
            {"speaker": "other", "text": "You said: I am tired."},
        ],
        "care": None,
    }
    assert say(side="A", number=0, text="I am tired.") == told  # the answer was lost and it was sent again
    pages.ask(token, f"units/{key}/chat", {"side": "A", "number": 6, "text": "x"}, 409)
    pages.ask(token, f"units/{key}/chat", {"side": "C", "number": 0, "text": "x"}, 422)
    pages.ask(token, f"units/{key}/answers", {"answers": {"overall": "A"}}, 409)
    chat = next(block for block in pages.ask(token, "next")["unit"]["blocks"] if block["type"] == "chat")
    assert (len(chat["chats"]["A"]), chat["chats"]["B"], chat["least_turns"]) == (2, [], 2)
    say(side="A", number=2, text="Yes.")
    for number in (0, 2):
        say(side="B", number=number, text="Hello.")
    assert pages.ask(token, f"units/{key}/answers", {"answers": {"overall": "A"}})["stored"]
    pages.ask(token, f"units/{key}/chat", {"side": "B", "number": 4, "text": "More"}, 409)


def test_a_conversation_comes_to_an_end(opened: Any):
    pages = opened(CHAT, items=1, more=LIVE)
    token, step = pages.begin()
    path = f"units/{step['unit']['key']}/chat"
    for number in (0, 2, 4):
        pages.ask(token, path, {"side": "A", "number": number, "text": "Hello."})
    assert "long enough" in pages.ask(token, path, {"side": "A", "number": 6, "text": "Hello."}, 409)["error"]


def test_whoever_may_be_in_danger_is_told_whom_to_call_and_by_both_systems_alike(opened: Any):
    pages = opened(CHAT, items=1, more=LIVE)
    token, step = pages.begin()
    path = f"units/{step['unit']['key']}/chat"
    words = "I want to kill myself tonight."
    told = [pages.ask(token, path, {"side": side, "number": 0, "text": words}) for side in "AB"]
    assert told[0] == told[1]
    assert told[0]["care"]["help"]["crisis"]
    assert not told[0]["turns"][1]["text"].startswith("You said")


def test_whoever_stays_in_danger_is_not_told_the_same_words_again(opened: Any):
    pages = opened(CHAT, items=1, more=LIVE)
    token, step = pages.begin()
    path = f"units/{step['unit']['key']}/chat"
    for number in (0, 2, 4):
        told = pages.ask(token, path, {"side": "A", "number": number, "text": "I want to kill myself."})
    replies = [turn["text"] for turn in told["turns"][1::2]]
    assert len(set(replies)) == len(replies) == 3


# --- around it


def test_the_bare_address_leads_to_the_study_and_keeps_what_platforms_add(opened: Any):
    pages = opened(LIKERT, systems=["one"])
    answer = pages.client.get("/?PROLIFIC_PID=1", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/study?PROLIFIC_PID=1")
    page = pages.client.get("/study")
    assert (page.status_code, page.headers["content-type"].split(";")[0]) == (200, "text/html")
    assert pages.client.get("/api/openapi.json").status_code == 404


def test_a_page_from_elsewhere_is_refused_and_the_facts_are_public(opened: Any):
    pages = opened(LIKERT, systems=["one"])
    facts = pages.client.get("/api/study").json()
    assert facts["title"] == "A small study"
    assert set(facts) == {"title", "about", "language", "contact", "minutes", "needs_open_token"}
    assert pages.client.get("/api/study", headers={"Origin": "https://elsewhere.example"}).status_code == 403
    help_there = pages.client.get("/api/study/help?country=GB").json()
    assert help_there["crisis"]
    assert {"code": "NZ", "name": "New Zealand"} in help_there["countries"]
