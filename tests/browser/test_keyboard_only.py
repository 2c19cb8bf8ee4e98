"""Everything without a mouse."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from talking_in_browser import composer, listener, messages

# What the focus is on is called so. (Where it is on nothing, it is on the body, whose text is all there is.)
FOCUSED = """() => {
    const element = document.activeElement;
    return element === document.body ? "" : element.ariaLabel || element.textContent || "";
}"""


def _tab_to(page: Page, name: str, *, most: int = 80, key: str = "Tab") -> None:
    """Press Tab until the focus is on what is called so."""
    seen = []
    for _ in range(most):
        page.keyboard.press(key)
        focused = page.evaluate(FOCUSED)
        seen.append(focused[:40])
        if name in focused:
            return
    raise AssertionError(f"no way to {name!r} by Tab: {seen}")


def test_a_whole_visit_without_a_mouse(page: Page) -> None:
    expect(composer(page)).to_be_focused()
    page.keyboard.type("My plants are dying.")
    page.keyboard.press("Enter")
    expect(messages(page)).to_have_count(2)
    expect(composer(page)).to_be_focused()
    expect(page.get_by_role("heading", name="May I remember you?")).to_be_visible()

    _tab_to(page, "No, thank you", key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="May I remember you?")).to_have_count(0)
    expect(composer(page)).to_be_focused()

    _tab_to(page, "Answer this way: Suggest something")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You asked for this kind of answer.")).to_be_visible()

    page.keyboard.press("Control+k")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("plants")
    expect(page.get_by_text("1 conversation found")).to_be_visible()

    _tab_to(page, "What to do with")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Rename")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Title")).to_be_focused()
    page.keyboard.type("Thirsty")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thirsty")
    expect(page.get_by_role("button", name="What to do with “Thirsty”")).to_be_focused()

    _tab_to(page, "Help lines")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="People who can help")).to_be_visible()
    page.keyboard.press("Alt+n")
    expect(composer(page)).to_be_focused()


def test_the_first_thing_on_the_page_leads_past_the_list(page: Page) -> None:
    expect(composer(page)).to_be_focused()
    first = page.locator("#root a, #root button").first
    expect(first).to_have_text("Skip to the message box")
    _tab_to(page, "Skip to the message box", key="Shift+Tab")
    expect(first).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(composer(page)).to_be_focused()


def test_a_dialog_keeps_the_focus_and_gives_it_back(page: Page) -> None:
    button = listener(page)
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Who listens?")
    expect(dialog).to_be_visible()
    expect(dialog.locator(":focus")).to_have_count(1)
    for _ in range(30):
        page.keyboard.press("Tab")
        assert dialog.evaluate("(dialog) => dialog.contains(document.activeElement)")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()


def test_the_focus_can_be_seen(page: Page) -> None:
    expect(composer(page)).to_be_focused()
    _tab_to(page, "New conversation", key="Shift+Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
