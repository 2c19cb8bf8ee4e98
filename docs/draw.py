"""Draw the pictures of these pages: `python docs/draw.py` (the corpora are found through ALLEARS_DATA).

Pictures of corpora hold numbers and single words only, never a sentence of a corpus; the conversation that
is shown is made up and lies in docs/examples. A corpus that is not at hand keeps its old picture.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from allears.cli.conversation_view import ConversationView
from allears.corpora import corpus, data_root, read
from allears.corpora.files import NotHereError
from allears.corpora.plots import save_picture
from allears.corpora.statistics import measure

HERE = Path(__file__).parent
IMAGES = HERE / "images"
PICTURES = {"ed": "ed-emotions.png", "esconv": "esconv-strategies.png", "dailydialog": "dailydialog.png",
            "personachat": "personachat.png", "epitome": "epitome.png"}  # fmt: skip


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


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    draw_corpora()
    draw_conversation()
