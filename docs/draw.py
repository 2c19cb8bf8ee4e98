"""Draw the pictures of these pages: `python docs/draw.py` (the corpora are found through ALLEARS_DATA).

Pictures of corpora hold numbers and single words only, never a sentence of a corpus; the conversation that
is shown is made up and lies in docs/examples. A corpus that is not at hand keeps its old picture.
"""

from __future__ import annotations

import ast
import io
import re
import tomllib
from html import escape
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from allears import Listener
from allears.cli.conversation_view import ConversationView
from allears.corpora import corpus, data_root, read
from allears.corpora.files import NotHereError
from allears.corpora.plots import save_picture
from allears.corpora.statistics import measure

HERE = Path(__file__).parent
IMAGES = HERE / "images"
PICTURES = {"ed": "ed-emotions.png", "esconv": "esconv-strategies.png", "dailydialog": "dailydialog.png",
            "personachat": "personachat.png", "epitome": "epitome.png"}  # fmt: skip

LONGEST_LABEL = 100
MESSAGE = "My sister moves to Canada on Friday and I can't stop crying."
STEPS = {
    "encode": "the message and the conversation, one pass of the encoder",
    "read": "emotions and the strategy a supporter would choose",
    "screen": "is somebody in danger?",
    "remember": "what the person said of themselves",
    "write": "drafts by the voice",
    "find": "replies that were written beforehand",
    "rank": "CoBERT",
    "review": "our own words: no harm, no diagnosis",
}


def draw_corpora() -> None:
    for name, file in PICTURES.items():
        title = corpus(name).info.title
        try:
            statistics = measure(read(name, "train"))
        except NotHereError:
            print(f"{name} is not under {data_root()}: {file} stays as it is")
            continue
        save_picture(statistics, f"{title}, train: {statistics.conversations:,} conversations", IMAGES / file)
        shrink(IMAGES / file)


def shrink(picture: Path) -> None:
    """Flat colours need no more than a palette: a third of the bytes in the repository."""
    with Image.open(picture) as image:
        small = image.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    small.save(picture, optimize=True)


def draw_conversation() -> None:
    """What `allears data show docs/examples/talks.jsonl` prints, as an SVG without fonts from elsewhere."""
    talk = next(corpus(HERE / "examples" / "talks.jsonl").read("all", HERE))
    console = Console(
        record=True, width=84, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(ConversationView(talk))
    svg = console.export_svg(title="allears data show", theme=DIMMED_MONOKAI, unique_id="show")
    svg = re.sub(r"@font-face\s*\{.*?\}\s*", "", svg, flags=re.DOTALL)
    (IMAGES / "show.svg").write_text(svg.replace("Fira Code, monospace", "monospace"), encoding="utf-8")


def layers() -> list[str]:
    """The rooms from the top to the bottom, as import-linter is told."""
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [each for each in settings["tool"]["importlinter"]["contracts"] if each["type"] == "layers"]
    return [layer.replace("allears.", "") for layer in contract["layers"]]


def about(room: str) -> str:
    """The first sentence of a room's docstring."""
    place = HERE.parent / "src" / "allears" / room
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    told = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split("\n")[0]
    return told if len(told) <= LONGEST_LABEL else told[: LONGEST_LABEL - 1].rsplit(" ", 1)[0] + " …"


def draw_rooms() -> None:
    """One bar for each room, in the order in which they may import each other: downwards only."""
    height, width, rows = 30, 860, []
    for place, layer in enumerate(layers()):
        top, name = place * height, layer.split(" | ")[0]
        told = about(name) if " | " not in layer else "label sets; showing progress"
        rows.append(
            f'<rect x="0" y="{top}" width="{width}" height="{height - 4}" rx="4" class="room"/>'
            f'<text x="12" y="{top + 18}" class="name">{escape(layer)}</text>'
            f'<text x="170" y="{top + 18}" class="about">{escape(told)}</text>'
        )
    write_svg("rooms.svg", width, len(rows) * height, rows, "The rooms; each may import those below it")


def draw_turn() -> None:
    """The steps of one real turn with the time each took on this machine."""
    listener = Listener.from_bundle()
    listener.respond("Hello.")  # the first turn also warms up
    reply = listener.respond(MESSAGE)
    spent = dict(reply.why.milliseconds)
    steps = [("message", MESSAGE, "")]
    steps += [(name, STEPS.get(name, ""), f"{ms:.0f} ms") for name, ms in spent.items()]
    steps.append(("reply", reply.text, ""))
    rows, height, width = [], 44, 760
    for place, (name, told, time) in enumerate(steps):
        top = place * height
        end = place in (0, len(steps) - 1)
        rows.append(
            f'<rect x="0" y="{top}" width="{width}" height="{height - 14}" rx="6" class="{"end" if end else "room"}"/>'
            f'<text x="12" y="{top + 20}" class="name">{escape(name)}</text>'
            f'<text x="130" y="{top + 20}" class="about">{escape(told)}</text>'
            f'<text x="{width - 12}" y="{top + 20}" class="about" text-anchor="end">{time}</text>'
        )
        if place:
            rows.append(f'<path d="M24 {top - 14} v12 m-4 -4 l4 4 l4 -4" class="arrow"/>')
    write_svg("turn.svg", width, len(steps) * height, rows, "One turn, step by step")


def write_svg(name: str, width: int, height: int, rows: list[str], title: str) -> None:
    style = (
        ".room{fill:#eceff1;stroke:#90a4ae}.end{fill:#ffe0b2;stroke:#ffb74d}"
        ".name{font:bold 13px monospace;fill:#263238}"
        ".about{font:13px sans-serif;fill:#37474f}.arrow{stroke:#607d8b;fill:none}"
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 {width + 4} {height + 4}" role="img">'
        f"<title>{title}</title><style>{style}</style>{''.join(rows)}</svg>\n"
    )
    (IMAGES / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    draw_corpora()
    draw_conversation()
    draw_rooms()
    draw_turn()
