"""From dumps to a corpus: the whole pipeline, in the order in which it happens.

each file   read_dump → clean → record rules → sentences → persona rules 1 to 5      (kept, so resumable)
then        trees → conversations → rules 1, 2, 4 → personas → leak → rule 3          (PEC section 3)
then        JSON lines, Parquet, PEC's text layout, the data card                     (in a folder beside)
at last     the folder gets its name: a corpus is there whole, or not at all
"""

from __future__ import annotations

import errno
import gc
import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from allears.corpora.reddit import persona, threads
from allears.corpora.reddit.dumps import read_dump
from allears.corpora.reddit.engine import Engine, open_engine
from allears.corpora.reddit.options import Options
from allears.corpora.reddit.privacy import author_ids, hashed, salt
from allears.corpora.reddit.records import (
    SENTENCE_RULES,
    TAG_RULES,
    Functions,
    candidates,
    cleaned,
    functions,
    placed,
    record_rules,
)
from allears.corpora.reddit.rules import Rule, RuleCount, counts, kept, mark, tally
from allears.errors import AllearsError

# Work on a file is done anew when the code that did it, or its word lists, have changed.
DECIDES = ("dumps.py", "first_names.txt", "lexicon.txt", "masks.py", "records.py", "tagger.py", "text.py")

OnProgress = Callable[[str, int, int], None]
"""Called with what is being done, how many of it are done, and how many there are (0: not known)."""


def silent(what: str, done: int, total: int) -> None:
    pass


@dataclass(slots=True)
class BuildReport:
    """What a build did: lines that could not be read, and what each rule removed."""

    options: Options
    lines: Counter[str] = field(default_factory=Counter)
    rules: list[RuleCount] = field(default_factory=list)
    conversations: dict[str, int] = field(default_factory=dict)  # per split

    @property
    def total(self) -> int:
        return sum(self.conversations.values())

    def to_dict(self) -> dict[str, Any]:
        rules = [rule.to_dict() for rule in self.rules]
        return {"conversations": self.conversations, "lines": dict(self.lines), "rules": rules}


def build(options: Options, on_progress: OnProgress = silent) -> BuildReport:
    """Build the corpus `options` ask for. Interrupted, the same call goes on after the last finished file."""
    from allears.corpora.reddit.output import write_corpus

    options.check()
    key = salt() if options.hash_authors else None
    report = BuildReport(options)
    with _disk_errors(options.out), _rare_collections():
        options.work.mkdir(mode=0o700, exist_ok=True)
        with open_engine(
            options.engine, options.work, master=options.master, memory=options.memory
        ) as engine:
            _read_files(engine, options, key, report, on_progress)
            _select(engine, options, report, on_progress)
        on_progress("writing", 0, 0)
        write_corpus(options, report, key)
        shutil.rmtree(options.work)
    return report


# --- each file ------------------------------------------------------------------------------------------


def _read_files(
    engine: Engine, options: Options, key: bytes | None, report: BuildReport, on_progress: OnProgress
) -> None:
    use = functions(masked=options.mask, tagger_name=options.tagger)
    given = [(path, False) for path in options.comments] + [(path, True) for path in options.submissions]
    names = {_file_key(path, submissions, options, key): (path, submissions) for path, submissions in given}
    for folder in ("records", "sentences", "done"):
        (options.work / folder).mkdir(exist_ok=True)
        for old in (options.work / folder).iterdir():  # of other files, or of other options
            if old.name.strip(".").partition(".")[0] not in names:
                _remove(old)
    rules = record_rules(tuple(name.lower() for name in options.exclude))
    found: dict[str, Counter[str | None]] = {"records": Counter(), "sentences": Counter(), "tags": Counter()}
    for number, (name, (path, submissions)) in enumerate(names.items()):
        on_progress(path.name, number, len(names))
        done = options.work / "done" / f"{name}.json"
        if not done.exists():
            with engine.one_thread():

                def on_lines(done: int, path: Path = path, number: int = number) -> None:
                    on_progress(f"{path.name}: {done:,} lines", number, len(names))

                facts = _read_file(engine, options, use, key, rules, path, submissions, name, on_lines)
            _write_whole(done, json.dumps(facts))
        facts = json.loads(done.read_text(encoding="utf-8"))
        report.lines.update(facts["lines"])
        for kind, tallied in found.items():
            tallied.update(dict(facts[kind]))
    report.rules += counts(rules, dict(found["records"]), "records")
    report.rules += counts(SENTENCE_RULES, dict(found["sentences"]), "sentences")
    report.rules += counts(TAG_RULES, dict(found["tags"]), "sentences")


def _read_file(
    engine: Engine,
    options: Options,
    use: Functions,
    key: bytes | None,
    rules: tuple[Rule, ...],
    path: Path,
    submissions: bool,
    name: str,
    on_lines: Callable[[int], None],
) -> dict[str, Any]:
    raw = options.work / "raw.parquet"
    lines = read_dump(path, raw, submissions=submissions, author_id=author_ids(key), on_lines=on_lines)
    everything = mark(cleaned(engine.read("raw.parquet"), use), rules)
    if options.wanted:
        records = engine.save(everything, "cleaned.parquet")
        engine.save(records.filter(records.subreddit.isin(options.wanted)), "records", f"{name}.parquet")
    else:
        records = engine.save(everything, "records", f"{name}.parquet")
    listed = engine.save(placed(mark(candidates(records), SENTENCE_RULES)), "listed.parquet")
    first = kept(listed)
    tagged = engine.save(
        mark(first.mutate(answers=use.answers(first.text)), TAG_RULES).drop("answers"), "tagged.parquet"
    )
    engine.save(kept(tagged), "sentences", f"{name}.parquet")
    facts = {
        "lines": dict(lines),
        # Pairs, because JSON has no null as a key.
        "records": list(tally(records).items()),
        "sentences": list(tally(listed).items()),
        "tags": list(tally(tagged).items()),
    }
    for temporary in ("raw", "cleaned", "listed", "tagged"):
        _remove(options.work / f"{temporary}.parquet")
    return facts


@cache
def _code() -> str:
    found = hashlib.sha256()
    for name in DECIDES:
        found.update(files("allears.corpora.reddit").joinpath(name).read_bytes())
    return found.hexdigest()


def _file_key(path: Path, submissions: bool, options: Options, key: bytes | None) -> str:
    """A name for the work on one file that changes with the file and with every choice that matters to it."""
    stat = path.stat()
    facts = [
        _code(), str(path.resolve()), stat.st_size, stat.st_mtime_ns, submissions, options.wanted,
        sorted(options.exclude), options.tagger, options.mask,
        None if key is None else hashed(key, "which salt was it?"),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


# --- all files together ------------------------------------------------------------------------------------

STEPS = ("threads", "roots", "conversations", "personas", "selection")


def _select(engine: Engine, options: Options, report: BuildReport, on_progress: OnProgress) -> None:
    """The paper's section 3 on all records; leaves `kept.parquet` and `personas.parquet` in the work folder."""

    def step(name: str) -> None:
        on_progress(name, STEPS.index(name), len(STEPS))

    def apply(table: Any, rules: tuple[Rule, ...], unit: str, name: str) -> Any:
        marked = engine.save(mark(table, rules), f"{name}.parquet")
        report.rules.extend(counts(rules, tally(marked), unit))
        return kept(marked)

    step("threads")
    nodes = apply(
        threads.nodes(engine.read("records", "*.parquet")), threads.NODE_RULES, "records in threads", "nodes"
    )
    nodes = nodes.drop("copy")
    edges = engine.save(threads.edges(nodes), "edges.parquet")
    comments = int(nodes.filter(~nodes.is_post).count().to_pyarrow().as_py())
    answers = int(edges.filter(edges.up.notnull()).count().to_pyarrow().as_py())
    why = "It answers something that the dumps do not hold: no conversation, though its sentences count."
    report.rules.append(RuleCount("nothing before it", why, "comments", comments - answers, answers))
    step("roots")
    roots = threads.roots(engine, edges)
    step("conversations")
    turns = engine.save(threads.turns(threads.windows(edges), nodes), "turns.parquet")
    whole = threads.conversations(turns, roots, nodes)
    rules = threads.conversation_rules(keep_orphans=options.orphans == "keep")
    found = apply(whole, rules, "conversations", "found")
    if options.orphans == "keep":
        cut, left = (found[name].sum().fill_null(0).to_pyarrow().as_py() for name in ("cut", "length"))
        report.rules.append(RuleCount("before an orphan's beginning", threads.CUT, "turns", cut, left))
    once = apply(threads.with_copies(found, nodes), threads.REPEATED_RULES, "conversations", "once").drop(
        "copy"
    )
    step("personas")
    sentences = persona.of_speakers(engine.read("sentences", "*.parquet"), once)
    unsaid = apply(sentences, persona.PERSONA_RULES, "persona sentences", "unsaid").drop("copy", "said")
    personas = apply(persona.ranked(unsaid), persona.RANK_RULES, "persona sentences", "ranked")
    step("selection")
    asked = persona.with_persona(once, personas, options.persona_of)
    chosen = apply(asked, persona.persona_rules(options.persona_of), "conversations", "chosen")
    chosen = chosen.drop("without", "answer", "parent")
    engine.save(threads.texts(chosen, turns, nodes).order_by("thread", "id"), "kept.parquet")
    people = persona.speakers(chosen).select("author").distinct()
    engine.save(
        personas.semi_join(people, "author").select("author", "rank", "text").order_by("author", "rank"),
        "personas.parquet",
    )


# --- files ------------------------------------------------------------------------------------------------


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _write_whole(path: Path, text: str) -> None:
    part = path.with_name("." + path.name)
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Millions of short-lived records, none of them in a cycle: looking for cycles so often is a tenth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _disk_errors(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        raise AllearsError(
            f"{error.filename or out}: "
            + ("the disk is full" if full else f"cannot be written ({error.strerror or error})")
            + "; nothing was put in place, and finished files are kept: give the same command again"
        ) from error
