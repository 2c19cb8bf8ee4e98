"""Blind readers: items of several listeners in mixed order, their marks, and what the marks say.

`mix` takes what `allears replay` wrote for several versions and makes items whose version nobody can tell. A reader
gets the page JUDGING.md and some items, and marks each reply good (G), plain (P) or off (O) and each conversation from
1 (would close the window) to 5 (would gladly go on). `report` takes the marks and gives each version's shares, how
well readers agree (Cohen's kappa), and paired sign tests between versions.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from allears.corpora.export import write_lines
from allears.corpora.files import CorpusError, Source, raise_bad
from allears.corpora.json_files import Record, field, json_lines, text_field
from allears.errors import AllearsError
from allears.evaluation.replay import Replayed, read_replayed
from allears.metrics.significance import SignTest, sign_test

MARKS = "GPO"  # good, plain, off: the best first
LOWEST, HIGHEST = 1, 5
ITEMS, KEY, PAGE, MARKS_FOLDER = "items.jsonl", "key.json", "JUDGING.md", "marks"

INSTRUCTIONS = """# Judging replies

You get conversations of several anonymous versions of a listener, in mixed order. Mark every listener reply at its
place, as the person who wrote the messages would feel it, knowing only what came before.

- **G** good: shows that this very message was understood (its point, feeling or meaning, or asks what matters next),
  fits the mood, natural English.
- **P** plain: harmless and fitting, but could be said to almost anybody, or a mere echo.
- **O** off: misunderstands, wrong mood, presumes what was not said, incoherent, ignores a direct question, or takes the
  person to be in danger where nothing suggests it.

And for each conversation: would this person go on talking to it, 1 (closes the window) to 5 (gladly). Be strict and
consistent; vivid wording that does not fit is off.

Write one line of JSON for each item, with one letter for each reply, to `marks/YOUR-NAME.jsonl`:

    {"item": "x0012", "marks": "GPOOPG", "go_on": 2}
"""


@dataclass(frozen=True, slots=True)
class Marked:
    """One reader's marks of one item."""

    reader: str
    item: str
    marks: str
    go_on: int


@dataclass(frozen=True, slots=True)
class VersionMarks:
    """How one version was judged, all readers together; shares are percentages of marks."""

    version: str
    replies: int
    good: float
    plain: float
    off: float
    go_on: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "marks": self.replies,
            "good": round(self.good, 1),
            "plain": round(self.plain, 1),
            "off": round(self.off, 1),
            "go_on": round(self.go_on, 2),
        }


@dataclass(frozen=True, slots=True)
class Compared:
    """Two versions on the same messages: how often the first was the better one, and the sign test of that."""

    first: str
    second: str
    pairs: int
    test: SignTest


@dataclass(frozen=True, slots=True)
class JudgingReport:
    versions: tuple[VersionMarks, ...]
    by_reader: Mapping[str, tuple[VersionMarks, ...]]
    compared: tuple[Compared, ...]
    kappa: float | None  # None: no reply was read twice
    read_twice: int
    unread: int  # items that nobody has marked

    def to_dict(self) -> dict[str, Any]:
        return {
            "versions": [each.to_dict() for each in self.versions],
            "readers": {name: [each.to_dict() for each in rows] for name, rows in self.by_reader.items()},
            "kappa": None if self.kappa is None else round(self.kappa, 3),
            "read_twice": self.read_twice,
            "unread_items": self.unread,
            "compared": [
                {
                    "first": each.first,
                    "second": each.second,
                    "pairs": each.pairs,
                    "first_better": each.test.wins,
                    "second_better": each.test.losses,
                    "p": each.test.p_value,
                }
                for each in self.compared
            ],
        }


def mix(
    files: Sequence[Path], out: Path, *, packets: int = 1, limit: int | None = None, seed: int = 0
) -> int:
    """Write the items of several versions to `out`, in mixed order, with the key apart. How many there are.

    Args:
        files: What `allears replay` wrote, one file for each version. All must hold the same scripts.
        packets: In how many files to hand the items out; every packet holds a fair share of each version.
        limit: Only so many scripts, a seeded sample.
    """
    versions = _versions(files)
    scripts = _common_scripts(versions)
    chance = random.Random(seed)
    chosen = sorted(chance.sample(scripts, limit)) if limit is not None and limit < len(scripts) else scripts
    pairs = [(name, script) for script in chosen for name in versions]
    chance.shuffle(pairs)
    width = max(3, len(str(len(pairs))))
    key: dict[str, dict[str, str]] = {}
    items: list[Record] = []
    for number, (name, script) in enumerate(pairs, 1):
        item = f"x{number:0{width}}"
        key[item] = {"version": name, "script": script}
        items.append(_item(item, versions[name][script]))
    _new_folder(out)
    _write(out / ITEMS, items)
    for packet in range(packets if packets > 1 else 0):
        _write(out / f"packet-{packet + 1}.jsonl", items[packet::packets])
    (out / PAGE).write_text(INSTRUCTIONS, encoding="utf-8")
    (out / MARKS_FOLDER).mkdir()
    # last, so that a folder with a key is whole
    (out / KEY).write_text(json.dumps({"seed": seed, "items": key}, indent=1), encoding="utf-8")
    return len(items)


def _versions(files: Sequence[Path]) -> dict[str, dict[str, Replayed]]:
    names = [path.name.removesuffix(".gz").removesuffix(".jsonl") for path in files]
    if len(set(names)) < len(names):
        raise AllearsError(
            "two files have the same name; a version is called by its file's name, so rename one"
        )
    return {
        name: {item.id: item for item in read_replayed(path)} for name, path in zip(names, files, strict=True)
    }


def _common_scripts(versions: Mapping[str, Mapping[str, Replayed]]) -> list[str]:
    first, *others = versions
    for name in others:
        if versions[name].keys() != versions[first].keys():
            raise AllearsError(
                f"{name} and {first} do not hold the same scripts; replay the same file with both"
            )
        for script, item in versions[name].items():
            if item.messages != versions[first][script].messages:
                raise AllearsError(f"the messages of script {script!r} differ between {name} and {first}")
    return sorted(versions[first])


def _item(name: str, said: Replayed) -> Record:
    turns: list[str] = []
    for message, reply in zip(said.messages, said.replies, strict=True):
        turns += [f"PERSON: {message}", f"LISTENER: {reply}"]
    return {"item": name, "replies": len(said.replies), "conversation": turns}


def _new_folder(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise AllearsError(
            f"{out} is there already; marks belong to one set of items, so choose a new folder"
        )
    out.mkdir(parents=True, exist_ok=True)


def _write(path: Path, items: Iterable[Record]) -> None:
    write_lines((json.dumps(item, ensure_ascii=False) for item in items), path)


# --- what the marks say


def read_marks(folder: Path) -> tuple[dict[str, dict[str, str]], list[Marked]]:
    """The key of a folder that `mix` made, and every reader's marks in it. Raises an `AllearsError` for a wrong one."""
    try:
        key = json.loads((folder / KEY).read_text(encoding="utf-8"))["items"]
        lengths = {
            record["item"]: record["replies"] for _, record in json_lines(Source(folder / ITEMS), raise_bad)
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AllearsError(f"{folder}: not a folder that `allears judge mix` made ({error})") from error
    marked = [
        each for path in sorted((folder / MARKS_FOLDER).glob("*.jsonl")) for each in _marks_of(path, lengths)
    ]
    if not marked:
        raise AllearsError(
            f"{folder / MARKS_FOLDER}: no marks yet; readers write NAME.jsonl there, see {PAGE}"
        )
    return key, marked


def _marks_of(path: Path, lengths: Mapping[str, int]) -> list[Marked]:
    source, seen, found = Source(path), set[str](), list[Marked]()
    for line, record in json_lines(source, raise_bad):
        try:
            item, marks, go_on = (
                text_field(record, "item"),
                text_field(record, "marks"),
                field(record, "go_on", int),
            )
            if item not in lengths:
                raise ValueError(f"there is no item {item!r}")
            if item in seen:
                raise ValueError(f"item {item!r} is marked twice")
            if len(marks) != lengths[item] or set(marks) - set(MARKS):
                raise ValueError(f"{item} needs {lengths[item]} letters of {MARKS}, got {marks!r}")
            if not LOWEST <= go_on <= HIGHEST:
                raise ValueError(f"'go_on' must be {LOWEST} to {HIGHEST}, got {go_on}")
        except ValueError as error:
            raise CorpusError(str(error), source=source, line=line) from error
        seen.add(item)
        found.append(Marked(path.stem, item, marks, go_on))
    return found


def judging_report(key: Mapping[str, Mapping[str, str]], marked: Sequence[Marked]) -> JudgingReport:
    """Shares of each version, readers' agreement, and each pair of versions on the same messages."""
    versions = sorted({entry["version"] for entry in key.values()})
    by_reader: dict[str, list[Marked]] = defaultdict(list)
    for each in marked:
        by_reader[each.reader].append(each)
    kappa, twice = _agreement(marked)
    return JudgingReport(
        tuple(_shares(version, key, marked) for version in versions),
        {
            reader: tuple(_shares(v, key, rows) for v in versions)
            for reader, rows in sorted(by_reader.items())
        },
        tuple(_compare(first, second, key, marked) for first, second in combinations(versions, 2)),
        kappa,
        twice,
        len(key.keys() - {each.item for each in marked}),
    )


def _shares(version: str, key: Mapping[str, Mapping[str, str]], marked: Iterable[Marked]) -> VersionMarks:
    own = [each for each in marked if key[each.item]["version"] == version]
    counts = Counter("".join(each.marks for each in own))
    total = sum(counts.values())
    good, plain, off = (100 * counts[mark] / total if total else float("nan") for mark in MARKS)
    go_on = sum(each.go_on for each in own) / len(own) if own else float("nan")
    return VersionMarks(version, total, good, plain, off, go_on)


def _agreement(marked: Iterable[Marked]) -> tuple[float | None, int]:
    """Cohen's kappa over every reply that two readers marked; of more than two readers, every pair counts."""
    by_item: dict[str, list[Marked]] = defaultdict(list)
    for each in marked:
        by_item[each.item].append(each)
    pairs = [
        (one, other)
        for rows in by_item.values()
        for first, second in combinations(rows, 2)
        for one, other in zip(first.marks, second.marks, strict=True)
    ]
    return (cohen_kappa(pairs), len(pairs)) if pairs else (None, 0)


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Agreement of two raters beyond chance (Cohen 1960). NaN where both always gave one same mark."""
    total = len(pairs)
    agreed = sum(first == second for first, second in pairs) / total
    first, second = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
    by_chance = sum(first[mark] * second[mark] for mark in first) / total**2
    return float("nan") if by_chance == 1 else (agreed - by_chance) / (1 - by_chance)


def _compare(
    first: str, second: str, key: Mapping[str, Mapping[str, str]], marked: Iterable[Marked]
) -> Compared:
    """Every message that both versions answered: G is worth more than P, P more than O; readers' means are compared."""
    worth = {mark: len(MARKS) - place for place, mark in enumerate(MARKS)}
    found: dict[str, dict[tuple[str, int], list[int]]] = {first: defaultdict(list), second: defaultdict(list)}
    for each in marked:
        entry = key[each.item]
        if entry["version"] in found:
            for position, mark in enumerate(each.marks):
                found[entry["version"]][entry["script"], position].append(worth[mark])
    both = sorted(found[first].keys() & found[second].keys())
    means = [
        [sum(values) / len(values) for values in (found[v][place] for place in both)] for v in (first, second)
    ]
    return Compared(first, second, len(both), sign_test(*means) if both else SignTest(0, 0, 1.0))
