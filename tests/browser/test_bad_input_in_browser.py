"""What people should not send, and what they may: all of it ends in words somebody understands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import new_context
from playwright.sync_api import Browser, Page, expect
from real_server import RealServer
from talking_in_browser import all_is_told, composer, messages, say
from watching import watch

TOKEN, OTHER = "annas-long-access-token", "another-long-access-token"


def test_a_megabyte_is_not_pasted_and_the_page_says_why(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('x'.repeat(2 ** 20))")
    composer(page).fill("before ")
    page.keyboard.press("Control+v")
    expect(page.get_by_text("What you pasted has 1,048,576 characters")).to_be_visible()
    expect(composer(page)).to_have_value("before ")


def test_a_megabyte_that_gets_into_the_box_all_the_same_is_counted_not_sent(page: Page) -> None:
    composer(page).fill("y" * 2**20)
    too_many = page.get_by_text("1,040,576 characters too many: I can read 8,000 at once.")
    expect(too_many).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    composer(page).press("Enter")
    expect(too_many).to_be_visible()
    composer(page).fill("short")
    expect(page.get_by_role("button", name="Send")).to_be_enabled()


def test_the_longest_message_is_taken(page: Page) -> None:
    say(page, "word " * 1599 + "end.")
    expect(messages(page).first).to_contain_text("end.")


def test_markup_is_shown_and_never_run(page: Page) -> None:
    markup = '<img src=x onerror="window.hacked=1"> <script>window.hacked=1</script> **bold** &amp; </p>'
    say(page, markup)
    expect(messages(page).first.locator("p")).to_have_text(markup)
    page.reload()
    expect(messages(page).first.locator("p")).to_have_text(markup)
    expect(page.get_by_role("navigation").get_by_role("link", name="<img src=x")).to_be_visible()
    expect(page.get_by_role("navigation").locator("img, script")).to_have_count(0)
    assert page.evaluate("window.hacked") is None


def test_right_to_left_text_and_emoji_are_shown_as_they_are(page: Page) -> None:
    arabic = "أختي ستسافر إلى مدينة بعيدة"
    say(page, arabic)
    bubble = messages(page).first.locator("p")
    expect(bubble).to_have_text(arabic)
    assert bubble.evaluate("(text) => getComputedStyle(text).direction") == "rtl"
    emoji = "👩‍👩‍👧‍👦🌧️ 🏳️‍🌈 e\u0301"
    say(page, emoji)
    expect(messages(page).nth(2).locator("p")).to_have_text(emoji)


def test_one_endless_word_does_not_break_the_page(page: Page) -> None:
    say(page, "a" * 3000)
    all_is_told(page, "aaa")
    width: int = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 1360
    assert messages(page).first.evaluate("(row) => row.scrollWidth <= row.clientWidth + 1")


def test_an_address_that_leads_nowhere_says_so(page: Page) -> None:
    page.goto("/#/c/0123456789abcdef")
    expect(page.get_by_text("This conversation is not here.")).to_be_visible()
    page.goto("/#/no-such-page")
    expect(page.get_by_role("heading", name="There is no such page.")).to_be_visible()


def test_what_the_server_refuses_is_told_in_its_own_sentence(page: Page) -> None:
    sentence = "Many people are talking right now; try again in a moment."
    page.route("**/messages/stream", lambda route: route.fulfill(status=503, json={"error": sentence}))
    composer(page).fill("Hello?")
    composer(page).press("Enter")
    expect(page.get_by_role("alert")).to_contain_text(sentence)
    page.unroute("**/messages/stream")
    page.get_by_role("button", name="Send again").click()
    expect(messages(page)).to_have_count(2)


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    file = tmp_path / "tokens.txt"
    file.write_text(f"{TOKEN}\n")
    return file


@pytest.fixture
def guarded(tmp_path: Path, token_file: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path, "--token-file", str(token_file))
    server.start()
    yield server
    server.stop()


def test_a_token_is_asked_for_and_when_it_expires_nothing_is_lost(
    browser: Browser, guarded: RealServer, token_file: Path
) -> None:
    context = new_context(browser, guarded.url, reduced_motion="reduce")
    watched = watch(context, guarded.url)
    page = context.new_page()
    page.goto("/")
    token = page.get_by_label("Access token", exact=True)
    token.fill("wrong-long-access-token")
    page.get_by_role("button", name="Come in").click()
    expect(page.get_by_text("That token does not open this server.")).to_be_visible()
    token.fill(TOKEN)
    page.get_by_role("button", name="Come in").click()
    say(page, "It is me, Anna.")
    all_is_told(
        page, "It is me, Anna."
    )  # what is still under way when the server goes would find the door locked

    token_file.write_text(f"{OTHER}\n")  # the owner takes the token out
    guarded.stop()
    guarded.start()
    composer(page).fill("This must not be lost.")
    composer(page).press("Enter")
    expect(page.get_by_text("Your access token is not valid any more.")).to_be_visible()

    token_file.write_text(f"{OTHER}\n{TOKEN}\n")
    guarded.stop()
    guarded.start()
    token.fill(TOKEN)
    page.get_by_role("button", name="Come in").click()
    expect(messages(page)).to_have_count(4)
    expect(messages(page).nth(2)).to_contain_text("This must not be lost.")

    page.get_by_role("button", name="Leave, forget the token").click()
    expect(page.get_by_role("heading", name="Who is there?")).to_be_visible()
    token.fill(OTHER)
    page.get_by_role("button", name="Come in").click()
    expect(page.get_by_role("heading", name="I'm all ears.")).to_be_visible()
    expect(page.get_by_text("What you talk about will be listed here.")).to_be_visible()
    expect(page.get_by_text("It is me, Anna.")).to_have_count(0)  # another token is another person
    assert not watched.crashes
    context.close()


def test_the_policy_forbids_every_call_elsewhere(page: Page, server: RealServer, watched: object) -> None:
    policy = server.response("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    browser = page.context.browser
    assert browser is not None
    context = new_context(browser, server.url)
    other = context.new_page()
    other.goto("/")
    tried = other.evaluate("fetch('https://example.org/').then(() => 'got through', () => 'refused')")
    assert tried == "refused"
    inline = "document.head.append(Object.assign(document.createElement('script'), {text: 'window.ran = 1'}))"
    other.evaluate(inline)
    assert other.evaluate("window.ran") is None
    context.close()
