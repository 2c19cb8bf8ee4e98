"""Pictures of every view, on a desktop and on a phone: `python tests/browser/screenshots.py`. Some of them are
drawn in the dark as well (`IN_THE_DARK`; all would make the repository large).

They go to docs/images/web. Everything in them is said by the real listener on the real server; what the person says is
made up. `--only talk` draws only the views whose name contains the word.
"""

from __future__ import annotations

import argparse
import io
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chromium import launch, new_context
from patience import PATIENCE
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright
from real_server import RealServer
from resting import rest
from study_screenshots import draw_study_views

FOLDER = Path(__file__).parents[2] / "docs" / "images" / "web"
SIZES = {"desktop": (1360, 860), "phone": (390, 844)}
IN_THE_DARK = ("talk", "why", "crisis")
SAID = (
    "My sister is moving away next month.",
    "She is my best friend. I live in Leeds and she goes to Lisbon.",
    "I keep thinking about how quiet the evenings will be.",
)
OTHERS = ("I passed my driving test today!", "My boss shouted at me in front of everybody.")
DANGER = "I don't want to live any more."


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="views whose name contains this")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    choices = parser.parse_args()
    expect.set_options(timeout=PATIENCE)
    choices.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        server = RealServer(Path(place), "--country", "GB")
        server.start()
        browser = launch(playwright)
        try:
            draw_study_views(Path(place), choices.only, _study_picture(browser, choices.folder))
            conversation = _tell(server)
            for name, view in VIEWS.items():
                if choices.only in name:
                    for size in SIZES:
                        for scheme in ("light", "dark") if name in IN_THE_DARK else ("light",):
                            _draw(browser, server, conversation, name, view, size, scheme, choices.folder)
        finally:
            browser.close()
            server.stop()


def _draw(
    browser: Browser,
    server: RealServer,
    conversation: str,
    name: str,
    view: Callable[[Page, str], None],
    size: str,
    scheme: str,
    folder: Path,
) -> None:
    with _page(browser, server.url, size, scheme) as page:
        view(page, conversation)
        page.wait_for_timeout(700)  # for what moves softly to come to rest
        _save(page.screenshot(), folder / f"{name}-{size}-{scheme}.png")
        begun = page.url.rpartition("#/c/")[2]
    if name == "crisis":  # it would stand in the list of every picture after it
        server.delete(f"/api/conversations/{begun}")


def _study_picture(browser: Browser, folder: Path) -> Callable[[str, str, Callable[[Page], None]], None]:
    """Draws one view of a study in every size; in light alone, for the repository's size."""

    def draw(name: str, url: str, view: Callable[[Page], None]) -> None:
        for size in SIZES:
            with _page(browser, url, size, "light") as page:
                view(page)
                page.wait_for_timeout(700)
                _save(page.screenshot(), folder / f"{name}-{size}-light.png")

    return draw


@contextmanager
def _page(browser: Browser, url: str, size: str, scheme: str) -> Iterator[Page]:
    width, height = SIZES[size]
    context = new_context(
        browser,
        url,
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        has_touch=size == "phone",
        is_mobile=size == "phone",
    )
    page = context.new_page()
    yield page
    context.close()


def _save(picture: bytes, file: Path) -> None:
    """Few colours are enough for such pictures, and make them small."""
    with Image.open(io.BytesIO(picture)) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)


def _tell(server: RealServer) -> str:
    """Some conversations, and a person who wants to be remembered. The id of the one that is shown."""
    server.put("/api/consent", {"agreed": True})
    for text in OTHERS:
        other = server.post("/api/conversations")["id"]
        server.post(f"/api/conversations/{other}/messages", {"text": text})
    shown = str(server.post("/api/conversations")["id"])
    for text in SAID:
        server.post(f"/api/conversations/{shown}/messages", {"text": text})
    return shown


def _open(page: Page, hash_: str) -> None:
    page.goto(f"/{hash_}")
    page.wait_for_load_state("networkidle")


def _welcome(page: Page, _: str) -> None:
    _open(page, "#/")


def _talk(page: Page, conversation: str) -> None:
    _open(page, f"#/c/{conversation}")
    expect(page.get_by_role("region", name="Conversation").locator("ol > li")).to_have_count(2 * len(SAID))
    rest(page)


def _why(page: Page, conversation: str) -> None:
    _talk(page, conversation)
    expect(page.get_by_role("button", name=re.compile("^(Show|Hide) why$")).first).to_be_visible()
    if page.get_by_role("button", name="Show why").is_visible():
        page.get_by_role("button", name="Show why").click()


def _why_more(page: Page, conversation: str) -> None:
    _why(page, conversation)
    for title in ("The feeling heard", "What the answer tries", "What it believes about you"):
        page.get_by_role("button", name=title).click()
    for title in ("What else it could have said", "Time per step"):
        page.get_by_role("button", name=title).click()
    rest(page)


def _why_words(page: Page, conversation: str) -> None:
    _why(page, conversation)
    for title in (
        "The feeling heard",
        "What the answer tries",
        "What it believes about you",
        "Words that matched",
    ):
        page.get_by_role("button", name=title).click()
    page.get_by_role("region", name="Words that matched").locator("p button").first.click()
    rest(page)


def _list(page: Page, conversation: str) -> None:
    _talk(page, conversation)
    if page.get_by_role("button", name="Open the list").is_visible():
        page.get_by_role("button", name="Open the list").click()
    page.get_by_role("button", name="What to do with").first.click()


def _listener(page: Page, conversation: str) -> None:
    _talk(page, conversation)
    page.get_by_role("button", name="Listener:").click()


def _consent(page: Page, conversation: str) -> None:
    asked = {"agreed": False, "asked": False}
    page.route("**/api/consent", lambda route: route.fulfill(json=asked))
    _talk(page, conversation)


def _crisis(page: Page, _: str) -> None:
    _open(page, "#/")
    page.get_by_role("textbox", name="Your message").fill(DANGER)
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="People who can help now")).to_be_visible()


def _about_you(page: Page, _: str) -> None:
    _open(page, "#/about-you")


def _listeners(page: Page, _: str) -> None:
    _open(page, "#/listeners")
    page.get_by_role("button", name="Ask all three").click()
    expect(page.get_by_text("Runners-up")).to_have_count(3)


def _compare(page: Page, _: str) -> None:
    _open(page, "#/compare")
    page.get_by_role("button", name="Add a voice").click()
    for number, kind in ((2, "Encourage"), (3, "Suggest something")):
        page.get_by_role("combobox", name=f"Which answer of voice {number}").select_option(label=kind)
    page.get_by_role("textbox", name="The message").fill("I feel so alone in this town.")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("Runners-up").first.wait_for()


def _help(page: Page, _: str) -> None:
    _open(page, "#/help")


def _away(page: Page, conversation: str) -> None:
    _talk(page, conversation)
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("textbox", name="Your message").fill("Are you still there?")
    page.keyboard.press("Enter")
    page.get_by_text("Not sent yet").wait_for()


def _door(page: Page, conversation: str) -> None:
    refusal = {"error": "A valid access token is needed."}
    page.route("**/api/**", lambda route: route.fulfill(status=401, json=refusal))
    _open(page, f"#/c/{conversation}")
    expect(page.get_by_role("heading", name="Who is there?")).to_be_visible()


VIEWS: dict[str, Callable[[Page, str], None]] = {
    "welcome": _welcome,
    "talk": _talk,
    "why": _why,
    "why-words": _why_words,
    "why-more": _why_more,
    "list": _list,
    "listener": _listener,
    "consent": _consent,
    "crisis": _crisis,
    "about-you": _about_you,
    "listeners": _listeners,
    "compare": _compare,
    "help": _help,
    "away": _away,
    "door": _door,
}


if __name__ == "__main__":
    main()
