"""The data card: what a built corpus is, how it came about, and what it says about the people in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from allears.conversation import Conversation, Persona
from allears.corpora.plots import save_picture
from allears.corpora.statistics import Statistics, pec_table_1

PERSONA_SHOWN = 5

# The paper's Table 1, for comparison: happy train, offmychest train.
PAPER = {
    "#Conv.": ("157K", "124K"), "#Utter.": ("367K", "293K"), "#Speaker": ("93K", "89K"),
    "#Avg.PS": ("66.0", "59.6"), "#Std.PS": ("38.1", "40.2"), "#Avg.U": ("21.5", "30.4"), "#Avg.P": ("10.9", "10.9"),
}  # fmt: skip


def write_card(
    folder: Path,
    options: Any,
    report: Any,
    statistics: Mapping[str, Statistics],
    examples: Sequence[Conversation],
) -> None:
    """`card.md` and its pictures, in the corpus's own folder."""
    # One picture of the largest split: the splits are drawn by a hash, so the others look the same.
    split, found = max(statistics.items(), key=lambda item: item[1].conversations)
    picture = f"{split}.png"
    save_picture(found, f"{options.out.name}: {split}", folder / picture)
    rules_picture(report.rules, folder / "rules.png")
    text = "\n".join(_card(options, report, statistics, examples, picture))
    (folder / "card.md").write_text(text, encoding="utf-8")


def _card(
    options: Any,
    report: Any,
    statistics: Mapping[str, Statistics],
    examples: Sequence[Conversation],
    picture: str,
) -> Iterator[str]:
    chosen = ", ".join(f"r/{name}" for name in options.wanted) or "all subreddits in the dumps"
    yield f"# {options.out.name}\n"
    yield (
        f"{report.total:,} conversations with personas from {chosen}, built by `allears reddit build` after PEC "
        "(Zhong et al. 2020, section 3).\n"
    )
    yield "| choice | value |\n| --- | --- |"
    yield f"| comments | {', '.join(path.name for path in options.comments)} |"
    yield f"| submissions | {', '.join(path.name for path in options.submissions) or 'none'} |"
    yield f"| control group | {', '.join(options.control) or 'none'} |"
    yield f"| excluded subreddits | {', '.join(options.exclude) or 'none'} |"
    yield f"| persona needed of | {options.persona_of} |"
    yield f"| conversations whose post is missing | {options.orphans} |"
    yield f"| part-of-speech tagger | {options.tagger} |\n"
    yield "## Statistics (the paper's Table 1)\n"
    yield f"| | {' | '.join(statistics)} | PEC happy train | PEC offmychest train |"
    yield "| --- |" + " ---: |" * (len(statistics) + 2)
    columns = [dict(pec_table_1(found)) for found in statistics.values()]
    for name, paper in PAPER.items():
        yield f"| {name} | {' | '.join(column[name] for column in columns)} | {' | '.join(paper)} |"
    yield ""
    yield f"![{picture}]({picture})\n"
    yield "## What each rule removed\n"
    yield f"{report.lines['lines']:,} lines were read. Lines that could not be used: "
    broken = {kind: count for kind, count in report.lines.items() if kind != "lines"}
    yield (", ".join(f"{kind} {count:,}" for kind, count in sorted(broken.items())) or "none") + ".\n"
    yield "| of | rule | removed | left | why |\n| --- | --- | ---: | ---: | --- |"
    for rule in report.rules:
        yield f"| {rule.unit} | {rule.name} | {rule.removed:,} | {rule.left:,} | {rule.why} |"
    yield "\n![rules](rules.png)\n"
    yield "## Privacy\n"
    yield from _privacy(options)
    yield "## Examples\n"
    yield (
        f"{len(examples)} conversations chosen by a hash of their ids. They are other people's words: keep them in "
        "this folder.\n"
    )
    yield from _examples(examples)


def _privacy(options: Any) -> Iterator[str]:
    if options.hash_authors:
        yield (
            "- People's names are replaced by keyed hashes (HMAC-SHA256). The key is secret and not in this folder. "
            "Ids of conversations are hashed in the same way."
        )
    else:
        yield "- **People's names are in this corpus as they were on Reddit** (`--keep-names`). Do not pass it on."
    if options.mask:
        yield "- Names, e-mail addresses and phone numbers in texts are masked (`_name_`, `_email_`, `_phone_`)."
        yield "  First names are found by a list, so rare ones remain; texts can still be searched for on Reddit."
    else:
        yield "- Names, addresses and numbers in texts are **not** masked (`--no-mask`)."
    yield "- To take a person out: `allears reddit author-id NAME` gives the id, `allears reddit forget DIR ID`"
    yield "  removes the persona and every conversation with a turn of that person, from all files here.\n"


def _examples(conversations: Sequence[Conversation]) -> Iterator[str]:
    for number, conversation in enumerate(conversations, 1):
        yield f"### {number}. r/{conversation.labels['subreddit']}, {conversation.split}\n"
        for turn in conversation.turns:
            yield f"- *{str(turn.author)[:6]}*: {turn.text}"
        last = str(conversation.turns[-1].author)
        sentences = conversation.personas.get(last, Persona()).texts
        yield f"\nPersona of *{last[:6]}* ({len(sentences)} sentences):\n"
        yield from (f"- {sentence}" for sentence in sentences[:PERSONA_SHOWN])
        yield ""


def rules_picture(rules: Sequence[Any], path: Path) -> None:
    """A line for each rule: what share of what was there at first is left after it, and how many it removed."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    units = list(dict.fromkeys(rule.unit for rule in rules))
    figure = Figure(figsize=(9, 0.8 + 0.27 * (len(rules) + 1.4 * len(units))), layout="constrained")
    axes = figure.subplots()
    place = 0.0
    places, names = [], []
    for unit in units:
        mine = [rule for rule in rules if rule.unit == unit]
        at_first = max(mine[0].removed + mine[0].left, 1)
        axes.text(0, place, f"{at_first:,} {unit}", weight="bold", va="center")
        for rule in mine:
            place += 1
            left, removed = rule.left / at_first, rule.removed / at_first
            axes.barh(place, left, 0.7, color="#3d7ea6")
            axes.barh(place, removed, 0.7, left=left, color="#e07a5f")
            said = f"-{rule.removed:,}" if rule.removed else "0"
            axes.text(1.01, place, said, va="center", color="#b4472a" if rule.removed else "#888888")
            places.append(place)
            names.append(rule.name)
        place += 1.4
    axes.set_yticks(places, names)
    axes.set_ylim(place - 0.6, -0.8)
    axes.set_xlim(0, 1.13)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    axes.set_title("what each rule left (blue) and removed (red)", loc="left", pad=10)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.savefig(path, dpi=130, facecolor="white")
