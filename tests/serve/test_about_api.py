"""What the page learns before anybody says anything, and whom to call in need."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from allears import __version__
from allears.labels import ED_EMOTIONS, STRATEGIES
from allears.safety.replies import countries
from echo_listener import Echo
from serving import ANNA, begin, say


def test_everything_there_is_to_choose_from_is_told(client: TestClient):
    about = client.get("/api/about").json()
    assert about["version"] == __version__
    assert about["local"] is True
    assert about["limits"]["message"] == 8000
    (voice,) = about["voices"]
    assert (voice["name"], voice["default"], voice["leaves_machine"]) == ("default", True, False)
    assert voice["description"]
    assert [each["name"] for each in about["strategies"]] == list(STRATEGIES)
    assert all(each["title"] and each["description"] for each in about["strategies"])
    assert [each["name"] for each in about["emotions"]] == list(ED_EMOTIONS)
    assert {each["polarity"] for each in about["emotions"]} == {"positive", "negative"}


def test_the_case_study_is_one_message_and_three_personas_that_fit_the_limits(client: TestClient):
    about = client.get("/api/about").json()
    study, limits = about["case_study"], about["limits"]
    assert study["message"]
    assert len({each["id"] for each in study["personas"]}) == 3
    assert all(each in about["listener_personas"] for each in study["personas"])
    for preset in about["listener_personas"]:
        assert 1 <= len(preset["sentences"]) <= limits["listener_sentences"]
        assert all(len(sentence) <= limits["listener_sentence"] for sentence in preset["sentences"])


def test_a_voice_says_what_it_can_do(serve):
    able = Echo()
    able.takes_alpha = able.takes_persona = able.takes_strategy = True  # type: ignore[attr-defined]
    (voice,) = serve(able).get("/api/about").json()["voices"]
    assert (voice["takes_alpha"], voice["takes_persona"], voice["takes_strategy"]) == (True, True, True)
    (voice,) = serve(Echo()).get("/api/about").json()["voices"]
    assert not any(voice[name] for name in ("takes_alpha", "takes_persona", "takes_strategy", "shows_words"))


def test_help_lines_need_no_token_and_are_those_of_the_country(serve):
    client = serve(tokens=(ANNA,))
    found = client.get("/api/help", params={"country": "nz"}).json()
    assert (found["country"], found["place"], found["emergency"]) == ("NZ", "In New Zealand", "111")
    assert found["crisis"][0]["reach"]
    assert found["abuse"]
    assert {each["code"] for each in found["countries"]} == set(countries())


@pytest.mark.parametrize("country", ["XX", "", "🌍", "<>"])
def test_whoever_comes_from_elsewhere_is_told_the_international_lines(client: TestClient, country: str):
    found = client.get("/api/help", params={"country": country}).json()
    assert found["country"] is None
    assert found["crisis"]
    assert found["emergency"]


def test_the_servers_own_country_counts_where_none_is_named(serve):
    listener = Echo()
    listener.country = "IE"  # type: ignore[attr-defined]
    client = serve(listener)
    assert client.get("/api/help").json()["country"] == "IE"
    assert client.get("/api/help?country=GB").json()["country"] == "GB"
    assert client.get("/api/about").json()["country"] == "IE"


def test_an_answer_to_danger_brings_the_help_lines_of_the_persons_country(client: TestClient):
    talk = client.post("/api/conversations", json={"country": "NZ"}).json()["id"]
    why = say(client, talk, "danger").json()["why"]
    assert why["kind"] == "crisis"
    assert why["help"]["emergency"] == "111"
    assert "help" not in say(client, begin(client), "hello").json()["why"]
    assert client.get(f"/api/conversations/{talk}/turns/2/why").json()["why"]["help"] == why["help"]


def test_health_says_whether_a_token_is_needed(serve):
    assert serve().get("/api/health").json()["needs_token"] is False
    assert serve(tokens=(ANNA,)).get("/api/health").json()["needs_token"] is True


def test_an_old_token_and_a_missing_one_are_told_apart_in_plain_words(serve):
    client = serve(tokens=(ANNA,))
    assert "token is needed" in client.get("/api/about").json()["error"]
    old = client.get("/api/about", headers={"Authorization": "Bearer it-was-good-once-upon"})
    assert old.status_code == 401
    assert "no longer" in old.json()["error"]
