"""`allears data`: look at the corpora, count them, check them, take them elsewhere, fetch them."""

from __future__ import annotations

import json
import random as randomness
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from allears.cli.conversation_view import ConversationView
from allears.cli.data_tables import check_table, corpora_table, statistics_tables
from allears.cli.options import FirstConversations, argument, flag, optional, shared, unset, value
from allears.cli.output import console, say
from allears.cli.progress import transfer, watched
from allears.conversation import Conversation
from allears.corpora import PAPER_RULES, Corpus, ExampleRule, corpus, corpus_names, data_root, examples
from allears.corpora.bad_rows import BadRows
from allears.corpora.check import BROKEN, DIFFERS, NOT_HERE, SplitReport, check, readable_splits, splits_here
from allears.corpora.download import fetch, human_size
from allears.corpora.export import check_out, export_conversations, export_examples
from allears.corpora.files import NotHereError, raise_bad
from allears.corpora.plots import check_picture_path, save_picture
from allears.corpora.statistics import Statistics, measure
from allears.errors import AllearsError

app = typer.Typer(
    help="Look at the corpora, count them, check them, take them elsewhere, fetch them.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Name = Annotated[
    str,
    argument("A corpus (see [bold]allears data list[/]) or a .jsonl file in our schema."),
]
Split = Annotated[
    str | None,
    unset("train, valid or test; some corpora have others. Default: the first that is here."),
]
Root = Annotated[
    Path | None,
    unset("The folder of all corpora, one corpus's folder, or the very file. Default: $ALLEARS_DATA."),
]
SkipBad = Annotated[
    bool, shared("Go on past broken rows; count and list them on standard error.", "--skip-bad")
]
AsJson = Annotated[bool, shared("Print JSON for machines instead of tables.", "--json")]


def _example_commands(*commands: str) -> str:
    """The end of a command's help. Blank lines, or Typer would join the commands into one paragraph."""
    return "[bold]Examples[/]\n\n" + "\n\n".join(f"[cyan]{command}[/]" for command in commands)


@app.command(
    "list", epilog=_example_commands("allears data list", "allears data list --root ~/corpora --json")
)
def list_corpora(root: Root = None, as_json: AsJson = False) -> None:
    """List every corpus that can be read, its licence, and which of its splits are here."""
    place = data_root(root)
    rows = []
    for name in watched(corpus_names(), "looking for corpora"):
        reader = corpus(name)
        rows.append((reader.info, splits_here(reader, place)))
    if as_json:
        _print_json(
            [
                {
                    "name": info.name,
                    "title": info.title,
                    "about": info.about,
                    "licence": info.licence,
                    "page": info.page,
                    "splits_here": here,
                    "conversations": dict(info.counts),
                }
                for info, here in rows
            ]
        )
    else:
        console.print(corpora_table(rows))
        say(f"looked under {place}")


@app.command(
    epilog=_example_commands(
        "allears data show ed",
        "allears data show esconv --split valid --index 3",
        "allears data show pec --random --seed 7",
        "allears data show my-own.jsonl --id talk-12",
    )
)
def show(
    name: Name,
    *,
    split: Split = None,
    id: str | None = value(None, "The conversation with this id."),
    index: int | None = value(None, "The N-th conversation, counted from 0.", min=0),
    random: bool = flag("--random", "Any conversation; --seed says which."),
    seed: int = value(0, "For --random: the same seed shows the same conversation."),
    root: Root = None,
    skip_bad: SkipBad = False,
    as_json: AsJson = False,
) -> None:
    """Print one conversation the way a person reads one. Without an option: the first."""
    if (id is not None) + (index is not None) + random > 1:
        raise AllearsError("choose one of --id, --index and --random")
    reader = corpus(name)
    split = split or readable_splits(reader, data_root(root))[0]
    with _conversations(reader, split, root, skip_bad) as stream:
        if id is not None:
            found = next((item for item in stream if item.id == id), None)
            missing = f"no conversation has the id {id!r}"
        elif random:
            found = _any_of(stream, seed)
            missing = "there is no conversation"
        else:
            found = next(islice(stream, index or 0, None), None)
            missing = f"there is no conversation number {index or 0} (they are counted from 0)"
    if found is None:
        raise AllearsError(f"{missing} in the split {split!r} of {reader.info.name}")
    if as_json:
        typer.echo(found.to_json().encode("utf-8", "replace"))
    else:
        console.print(ConversationView(found))


@app.command(
    epilog=_example_commands(
        "allears data stats ed",
        "allears data stats esconv --split train --plot strategies.png",
        "allears data stats pec --json",
        "allears data stats my-own.jsonl --limit 1000 --skip-bad",
    )
)
def stats(
    name: Name,
    *,
    split: str | None = value(None, "One split only. Without it: every split that is here."),
    plot: Path | None = value(None, "Also draw a picture of the first split: .png, .svg or .pdf."),
    limit: FirstConversations = None,
    root: Root = None,
    skip_bad: SkipBad = False,
    as_json: AsJson = False,
) -> None:
    """Count a corpus: sizes, lengths, vocabulary, and whatever it carries.

    Emotions with the most-used words of seeker and supporter (Figure 3 of the
    EmpatheticDialogues paper), personas (PEC's Table 1), strategies overall and
    along the conversation (ESConv), problems, labels.
    """
    if plot is not None:
        check_picture_path(plot)
    reader = corpus(name)
    by_split: dict[str, Statistics] = {}
    for one in [split] if split else readable_splits(reader, data_root(root)):
        with _conversations(reader, one, root, skip_bad, limit) as stream:
            by_split[one] = measure(stream)
    if plot is not None:
        first, statistics = next(iter(by_split.items()))
        save_picture(
            statistics, f"{reader.info.title}, {first}: {statistics.conversations:,} conversations", plot
        )
        say(f"drew {plot}")
    if as_json:
        _print_json(
            {"corpus": reader.info.name, "splits": {key: item.to_dict() for key, item in by_split.items()}}
        )
    else:
        for table in statistics_tables(reader.info.title, by_split):
            console.print(table)


@app.command(
    "check",
    epilog=_example_commands(
        "allears data check all", "allears data check ed --root ~/corpora", "allears data check pec --json"
    ),
)
def check_corpora(
    name: str = argument("A corpus, a .jsonl file, or [bold]all[/]."),
    root: Root = None,
    strict: bool = flag("--strict", "Counts that differ from the published ones are a problem too."),
    as_json: AsJson = False,
) -> None:
    """Verify counts, fields and encodings of every split that is here.

    Each split is [green]fine[/], [yellow]differs[/] from what its authors published (a part of
    it, another version), has a [red]problem[/], or is not here. The exit code is 1
    if there was a problem, otherwise 0.
    """
    place = data_root(root)
    readers = [corpus(one) for one in corpus_names()] if name == "all" else [corpus(name)]
    here = len(readers) == 1 and bool(splits_here(readers[0], place))  # one that ships always is
    if not place.exists() and not Path(name).exists() and not here:
        raise AllearsError(f"{place}: no such file or folder; set ALLEARS_DATA or pass --root")
    reports = [report for reader in readers for report in check(reader, place, watch=watched)]
    if as_json:
        _print_json([report.to_dict() for report in reports])
    else:
        console.print(check_table(reports))
        _print_problems(reports)
    failing = {BROKEN, DIFFERS} if strict else {BROKEN}
    if any(report.status in failing for report in reports):
        raise typer.Exit(1)


@app.command(
    epilog=_example_commands(
        "allears data export ed --split valid --out ed-valid.jsonl.gz",
        "allears data export esconv --out esconv-train.parquet",
        "allears data export ed --examples --out ed-examples.jsonl",
    )
)
def export(
    name: Name,
    *,
    out: Path = value(
        ...,
        "Where to: a name ending in .jsonl, .jsonl.gz or .parquet. A file of that name is replaced "
        "once the new one is complete.",
        show_default=False,
    ),
    split: Split = None,
    as_examples: bool = flag(
        "--examples", "Cut into (context, response, persona) examples, as the corpus's paper does."
    ),
    limit: FirstConversations = None,
    root: Root = None,
    skip_bad: SkipBad = False,
) -> None:
    """Write a split as JSON lines in our schema (any command reads it back) or as Parquet."""
    check_out(out)
    reader = corpus(name)
    split = split or readable_splits(reader, data_root(root))[0]
    with _conversations(reader, split, root, skip_bad, limit) as stream:
        if as_examples:
            rule = PAPER_RULES.get(reader.info.name, ExampleRule())
            count = export_examples(examples(stream, rule), out)
        else:
            count = export_conversations(stream, out)
    kind = "examples" if as_examples else "conversations"
    say(f"wrote {count:,} {kind} to {out}")


@app.command(
    epilog=_example_commands("allears data download ed", "allears data download ed --to ~/corpora --yes")
)
def download(
    name: str = argument("A corpus (see [bold]allears data list[/])."),
    to: Path | None = optional("The folder of all corpora. Default: $ALLEARS_DATA, else your data folder."),
    yes: bool = value(False, "Do not ask.", "--yes", "-y"),
) -> None:
    """Fetch the official files from the authors' addresses, with checksums.

    Shows licence and size first. What was cut off is continued, not started again.
    """
    reader = corpus(name)
    info = reader.info
    place = data_root(to)
    if not info.page:
        raise AllearsError(f"{name} is a file of your own; there is nothing to fetch")
    if not info.downloads:
        raise AllearsError(
            f"{info.name} has no file that can be fetched directly; get it from {info.page} and put it under "
            f"{place} (its page in the documentation shows the layout)"
        )
    lines = [
        info.title,
        f"  licence  {info.licence}",
        f"  page     {info.page}",
        *(f"  file     {place / file.file} ({human_size(file.bytes)})" for file in info.downloads),
    ]
    say("\n".join(lines))
    if not yes and not _agreed():
        say("nothing was fetched")
        return
    for file in info.downloads:
        with transfer(Path(file.file).name) as on_progress:
            fetched = fetch(info, file, place, on_progress=on_progress)
        state = "fetched, checksum verified" if file.sha256 else "fetched (its authors publish no checksum)"
        say(f"{place / file.file}: {state if fetched else 'already here'}")
    here = splits_here(reader, place)
    say(
        f"ready to read: {', '.join(here)}"
        if here
        else "no split can be read from it yet; unpack it beside itself (the corpus's page shows the layout)"
    )


def _agreed() -> bool:
    try:
        return typer.confirm("Fetch it?", err=True)
    except typer.Abort as nobody:  # standard input is closed: a script, a job
        raise AllearsError("nothing was fetched, because nobody answered; pass --yes to fetch it") from nobody


@contextmanager
def _conversations(
    reader: Corpus, split: str, root: Path | None, skip_bad: bool, limit: int | None = None
) -> Iterator[Iterator[Conversation]]:
    """A split to read from, with progress; afterwards, what was skipped is listed on standard error."""
    bad = BadRows()
    expected = reader.info.counts.get(split)
    try:
        stream: Iterable[Conversation] = reader.read(
            split, data_root(root), on_bad=bad if skip_bad else raise_bad
        )
        if limit is not None:
            stream = islice(stream, limit)
            expected = limit if expected is None else min(expected, limit)
        yield watched(stream, f"reading {reader.info.name} {split}", expected)
    except NotHereError as error:
        if split not in reader.info.splits and splits_here(reader, data_root(root)):
            raise AllearsError(
                f"{reader.info.name} has no split {split!r}; it has {', '.join(reader.info.splits)}"
            ) from error
        raise
    for line in bad.report():
        say(line)


def _any_of(stream: Iterator[Conversation], seed: int) -> Conversation | None:
    """One conversation, each as likely as any other, without holding them all (reservoir of one)."""
    chance = randomness.Random(seed)
    chosen = None
    for count, item in enumerate(stream, start=1):
        if chance.randrange(count) == 0:
            chosen = item
    return chosen


def _print_problems(reports: list[SplitReport]) -> None:
    for report in reports:
        for number, sentence in enumerate(report.problems):
            if number == 0:
                console.print(f"{report.corpus} {report.split}:", style="bold red", highlight=False)
            console.print(f"  {sentence}", highlight=False, markup=False, soft_wrap=True)
        rest = report.problem_count - len(report.problems)
        if rest > 0:
            console.print(f"  … and {rest:,} more", highlight=False)
    if all(report.status == NOT_HERE for report in reports):
        say("nothing of it is here")


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace"))
