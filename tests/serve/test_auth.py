"""Who is let in, and as whom."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from allears.errors import AllearsError
from allears.serve.auth import ME, Door, person_of
from allears.serve.settings import ServerSettings

ANNA, BEN = "annas-long-access-token", "bens-long-access-token"


def door(**settings: object) -> Door:
    return Door(ServerSettings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.9.10"])
def test_on_this_machine_no_token_is_needed_and_there_is_one_person(host: str):
    assert door(host=host).person(Headers({})) == ME


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org", ""])
def test_on_any_other_address_a_server_without_a_token_is_refused_in_one_sentence(host: str):
    with pytest.raises(AllearsError, match="needs an access token: add --token"):
        ServerSettings(host=host)


def test_a_name_for_other_machines_needs_a_token_too():
    with pytest.raises(AllearsError, match=r"as talk\.example\.org other machines can reach"):
        ServerSettings(hosts=("talk.example.org",))


@pytest.mark.parametrize("token", ["short", "with a space in it, though long", "ü" * 20, ""])
def test_a_token_that_can_be_guessed_or_not_be_sent_is_refused(token: str):
    with pytest.raises(AllearsError, match="an access token must have at least 16 characters"):
        ServerSettings(tokens=(token,))


def test_two_people_cannot_share_a_token():
    with pytest.raises(AllearsError, match="given twice"):
        ServerSettings(tokens=(ANNA, ANNA))


def test_the_settings_do_not_show_their_tokens():
    assert ANNA not in repr(ServerSettings(tokens=(ANNA,), metrics_token=BEN))
    assert BEN not in repr(ServerSettings(tokens=(ANNA,), metrics_token=BEN))


def test_each_token_is_another_person_and_the_same_one_every_time():
    people = [door(tokens=(ANNA, BEN)).person(bearer(token)) for token in (ANNA, BEN, ANNA)]
    assert people[0] == people[2] != people[1]
    assert ME not in people
    assert ANNA not in str(people)


def test_the_salt_decides_which_id_a_token_has():
    assert person_of(ANNA, "") != person_of(ANNA, "pepper")
    assert door(tokens=(ANNA,), salt="pepper").person(bearer(ANNA)) == person_of(ANNA, "pepper")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": f"Bearer {ANNA}x"},
        {"authorization": f"Bearer {ANNA[:-1]}"},
        {"authorization": "Bearer "},
        {"authorization": f"Basic {ANNA}"},
        {"authorization": ANNA},
        {"authorization": f"Bearer {person_of(ANNA, '')}"},
        {"x-allears-user": ME},
        {"cookie": f"token={ANNA}"},
        {"sec-websocket-protocol": "allears, allears.token."},
    ],
)
def test_whoever_has_no_valid_token_is_nobody(headers: dict[str, str]):
    assert door(tokens=(ANNA,)).person(Headers(headers)) is None


def test_a_header_cannot_make_one_person_another():
    headers = Headers(
        {"authorization": f"Bearer {BEN}", "x-allears-user": person_of(ANNA, ""), "x-forwarded-user": ME}
    )
    assert door(tokens=(ANNA, BEN)).person(headers) == person_of(BEN, "")


def test_a_browser_sends_its_token_with_the_protocols_of_a_websocket():
    headers = Headers({"sec-websocket-protocol": f"allears, allears.token.{ANNA}"})
    assert door(tokens=(ANNA, BEN)).person(headers) == person_of(ANNA, "")


def test_a_persons_token_does_not_open_the_counts_over_all_people():
    assert door().may_measure(Headers({}))
    assert not door(tokens=(ANNA,)).may_measure(bearer(ANNA))
    measured = door(tokens=(ANNA,), metrics_token=BEN)
    assert measured.may_measure(bearer(BEN))
    assert not measured.may_measure(bearer(ANNA))
    assert not measured.may_measure(Headers({}))
    assert measured.person(bearer(BEN)) is None


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "localhost:8377"},
        {"host": "127.0.0.1:8377"},
        {"host": "[::1]:8377"},
        {"host": "LOCALHOST"},
        {"host": "localhost:8377", "origin": "http://localhost:8377"},
        {"host": "localhost:8377", "sec-fetch-site": "same-origin"},
        {"host": "localhost:8377", "sec-fetch-site": "none", "sec-fetch-mode": "navigate"},
        {"host": "localhost:8377", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},  # a link
    ],
)
def test_this_machines_own_pages_and_programs_are_answered(headers: dict[str, str]):
    assert door().refusal(Headers(headers)) is None


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "attacker.example:8377"},  # a name of theirs that points here
        {"host": "localhost.attacker.example"},
        {"host": "127.0.0.1.attacker.example:8377"},
        {"host": "attacker.example", "origin": "http://attacker.example"},
        {"host": "localhost:8377", "origin": "http://attacker.example"},
        {"host": "localhost:8377", "origin": "http://localhost:3000"},
        {"host": "localhost:8377", "origin": "null"},
        {"host": "localhost:8377", "origin": "file://"},
        {"host": "localhost:8377", "origin": "http://["},
        {"host": "localhost:8377", "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"host": "localhost:8377", "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
    ],
)
def test_a_page_from_elsewhere_is_not_answered(headers: dict[str, str]):
    assert door().refusal(Headers(headers)) is not None


def test_a_page_that_was_allowed_is_answered():
    open_door = door(origins=("http://localhost:5173",))
    assert open_door.refusal(Headers({"host": "localhost", "origin": "http://localhost:5173"})) is None
    assert open_door.refusal(Headers({"host": "localhost", "origin": "http://localhost:5174"})) is not None


def test_an_origin_with_a_path_is_refused_at_the_start():
    with pytest.raises(AllearsError, match="--origin must look like"):
        ServerSettings(origins=("https://example.org/chat",))


def test_a_server_for_other_machines_answers_to_its_names_only_once_they_are_given():
    anywhere = {"host": "0.0.0.0", "tokens": (ANNA,)}
    assert door(**anywhere).refusal(Headers({"host": "talk.example.org"})) is None
    named = door(**anywhere, hosts=("talk.example.org",))
    assert named.refusal(Headers({"host": "talk.example.org"})) is None
    assert named.refusal(Headers({"host": "other.example.org"})) is not None


def bearer(token: str) -> Headers:
    return Headers({"authorization": f"Bearer {token}"})
