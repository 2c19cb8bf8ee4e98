"""The web app's files: what is served, under which policy, and nothing beside it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from allears.serve.pages import POLICY, Pages, built_pages
from serving import ANNA

SCRIPT = "console.log('hello');\n" * 200


@pytest.fixture
def page(tmp_path: Path) -> TestClient:
    """An application with nothing but a small built app."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>talk</title>")
    (tmp_path / "assets" / "app-1a2b.js").write_text(SCRIPT)
    (tmp_path / "assets" / "font-3c.woff2").write_bytes(b"\x00font")
    (tmp_path / ".secret").write_text("not for the page")
    (tmp_path.parent / "outside.txt").write_text("outside")
    app = Starlette()
    app.add_middleware(Pages, folder=tmp_path)
    return TestClient(app, headers={"Accept-Encoding": "identity"})


@pytest.mark.parametrize("path", ["/", "/index.html", "/about", "/c/3f8a1c0d9b7e2465"])
def test_every_place_of_the_app_is_its_page(page: TestClient, path: str):
    answer = page.get(path)
    assert (answer.status_code, answer.text) == (200, "<!doctype html><title>talk</title>")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-security-policy"] == POLICY


def test_the_policy_lets_the_page_reach_nothing_but_its_own_server():
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert "*" not in POLICY


def test_files_with_a_hash_in_their_name_are_kept_for_ever(page: TestClient):
    answer = page.get("/assets/app-1a2b.js")
    assert answer.text == SCRIPT
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]


def test_text_is_compressed_for_those_who_take_it(page: TestClient):
    with page.stream("GET", "/assets/app-1a2b.js", headers={"Accept-Encoding": "br, gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert len(raw) < 200
    assert gzip.decompress(raw).decode() == SCRIPT
    font = page.get("/assets/font-3c.woff2", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in font.headers
    assert font.content == b"\x00font"


def test_an_unchanged_file_is_not_sent_again(page: TestClient):
    tag = page.get("/").headers["etag"]
    again = page.get("/", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert page.get("/", headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/assets/app-9z.js",
        "/.secret",
        "/../outside.txt",
        "/..%2foutside.txt",
        "/assets/../../outside.txt",
        "/outside.txt",
    ],
)
def test_what_is_not_part_of_the_app_is_not_there(page: TestClient, path: str):
    answer = page.get(path)
    assert answer.status_code == 404
    assert "outside" not in answer.text.replace("outside.txt", "")
    assert "not for the page" not in answer.text


def test_a_copy_without_the_app_says_how_to_build_it(tmp_path: Path):
    pages = built_pages(tmp_path / "nothing")
    assert list(pages) == ["/index.html"]
    assert b"make web" in pages["/index.html"].content


def test_the_page_needs_no_token_and_everything_else_does(serve):
    client = serve(tokens=(ANNA,))
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-security-policy"] == POLICY
    assert page.headers["x-frame-options"] == "DENY"
    assert client.get("/api/about").status_code == 401
    assert (
        client.get("/api/conversations").headers["content-security-policy"].startswith("default-src 'none'")
    )


def test_the_page_does_not_hide_what_the_api_says(serve):
    client = serve()
    assert client.get("/api/nothing").json() == {"error": "Not Found"}
    assert client.get("/v1/nothing").status_code == 404
    assert client.get("/api/erase").status_code == 405
    assert client.post("/").status_code in (404, 405)


def test_the_page_is_not_for_pages_elsewhere(serve):
    client = serve()
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert client.get("/", headers=elsewhere).status_code == 403
    followed_a_link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=followed_a_link).status_code == 200
