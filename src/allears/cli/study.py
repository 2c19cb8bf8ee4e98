"""`allears study`: people's judgements and conversations, from a config file and a link."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allears.cli.options import Port, Quiet, Yes, argument, optional, unset, value
from allears.cli.output import console, framed_table, say
from allears.cli.progress import watched
from allears.errors import AllearsError

if TYPE_CHECKING:
    from allears.study.design import Design
    from allears.study.frozen import Frozen
    from allears.study.store import Store

app = typer.Typer(
    help="Human studies in the browser: ratings, comparisons, collected conversations, and their statistics.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

ANSWERS = "answers.db"
Folder = Annotated[Path, argument("The study's folder, with its study.toml.")]
Database = Annotated[
    str | None,
    unset(
        "A SQLite file or postgresql://... Default: answers.db in the study's folder.",
        envvar="ALLEARS_STUDY_DATABASE",
    ),
]


@app.command()
def new(
    design: str = argument(
        "likert, preference, interactive, persona-judgement, empathy-annotation or collect."
    ),
    folder: Path = argument("A folder for the study."),
) -> None:
    """Begin a study: writes its study.toml, which you then make your own.

    \b
    allears study new likert my-study
    allears study new collect my-corpus
    """
    from allears.study.design import STUDY_FILE
    from allears.study.design_file import shipped_design

    text = shipped_design(design)
    target = folder / STUDY_FILE
    if target.exists():
        raise AllearsError(f"{target}: there is a study already; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    say(f"{target}: read it and make it yours, then `allears study check {folder}`")


@app.command()
def check(folder: Folder, *, database: Database = None) -> None:
    """Is the study well written, what will it take, and how far is it?

    \b
    allears study check my-study
    """
    from allears.study.design_file import read_design
    from allears.study.frozen import CARD, FOLDER, load_frozen
    from allears.study.items import read_items
    from allears.study.units import build_units

    design = read_design(folder)
    items = read_items(design, folder)
    shown = f"{len(items)} items, " if items else ""
    say(f"{folder}: {design.title} ({shown}{len(design.systems)} systems, {len(design.questions)} questions)")
    if not (folder / FOLDER / CARD).is_file():
        say(f"not frozen yet: `allears study freeze {folder}` asks the systems and fixes what is judged")
        return
    frozen = load_frozen(design, folder)
    units = [unit for unit in build_units(design, frozen) if unit.check is None]
    if units:
        wanted = len(units) * design.raters.per_unit
        each = min(design.raters.units, len(units))
        say(
            f"{len(units)} units x {design.raters.per_unit} raters = {wanted} answers: {-(-wanted // each)} raters"
        )
    for name in frozen.not_fixed:
        say(f"{name} stands behind an address: nothing says that it stays the same")
    if database is None and not (folder / ANSWERS).is_file():
        say("nobody has answered yet")
        return
    with _opened(folder, database) as (_, _, store):
        count = store.count()
        say(
            f"{count.counted} of {count.wanted} answers, {count.open} open, {count.raters} raters; in {store.place}"
        )


@app.command()
def freeze(folder: Folder) -> None:
    """Ask every system for every item, and fix what is judged with a SHA-256.

    \b
    allears study freeze my-study
    """
    from allears.study.design_file import read_design
    from allears.study.frozen import freeze as freeze_study
    from allears.study.frozen import said_alike

    design = read_design(folder)
    frozen = freeze_study(design, folder, watch=watched)
    outputs = sum(len(each) for each in frozen.outputs.values())
    say(f"{folder}: {len(frozen.items)} items and {outputs} outputs are frozen ({frozen.digest[:12]})")
    for (one, other), count in said_alike(design, frozen).items():
        say(
            f"{one} and {other} say the same for {count} of {len(frozen.items)} items; there people can only tie"
        )


@app.command("dry-run")
def dry_run(
    folder: Folder,
    *,
    raters: int = value(50, "How many answer at once.", min=2),
    quality: float = value(0.9, "The chance that one reads before answering.", min=0.0, max=1.0),
    careless: float = value(0.1, "The share who never read.", min=0.0, max=1.0),
    leaving: float = value(0.02, "The chance of leaving in the middle of a unit.", min=0.0, max=0.5),
    effect: float = value(0.5, "How much better the first system is than the last, in points of five."),
    studies: int = value(50, "How many studies to simulate for the power.", min=0),
    seed: int = value(0, "Who the simulated people are. Who gets which unit is chance."),
    out: Path | None = optional("Write the report on the simulated answers here."),
) -> None:
    """Try the whole study with simulated raters before people are paid. Nothing is left in the study's database.

    \b
    allears study dry-run my-study
    allears study dry-run my-study --effect 0.3 --quality 0.8 --studies 200
    """
    from allears.study.analysis.report import build_report, write_report
    from allears.study.design_file import read_design
    from allears.study.frozen import load_frozen
    from allears.study.simulate import Crowd, power_of
    from allears.study.simulate import dry_run as simulate
    from allears.study.store import Store
    from allears.study.units import build_units

    design = read_design(folder)
    frozen = load_frozen(design, folder)
    crowd = Crowd(raters, quality, careless, leaving)
    with tempfile.TemporaryDirectory() as place:
        url = str(Path(place) / ANSWERS)
        found = simulate(design, frozen, url, crowd, effect=effect, seed=seed)
        say(
            f"{found.raters} simulated raters, {raters} at once: {found.screened} screened out, {found.left} left in "
            f"the middle, in {found.seconds:.1f} s"
        )
        if design.collects:
            say(f"{found.conversations} conversations")
        else:
            say(
                f"{found.answers} of {found.wanted} answers; units with too many: {found.over}, with too few: "
                f"{found.under}; answered twice by one rater: {found.twice}; answers lost: {found.lost}"
            )
            if design.raters.fourth:
                say(f"{found.fourth} units were split and got one more rater")
        if out is not None:
            with Store(url, design, build_units(design, frozen), frozen.digest) as store:
                files = write_report(build_report(design, frozen, store), design, out)
            say(f"report: {files[0]}")
    if design.systems and studies:
        share = f"found in {studies} studies"
        table = framed_table("question", "better", "than", share, numbers=[share])
        for each in power_of(design, frozen, crowd, effect=effect, studies=studies, seed=seed, watch=watched):
            table.add_row(each.question, each.better, each.worse, f"{100 * each.share:.0f}%")
        console.print(table, highlight=False)
    if not found.is_well:
        raise AllearsError("the dry run did not come out even; see the counts above")


@app.command()
def serve(
    folder: Folder,
    *,
    host: str = value("127.0.0.1", "Where to listen."),
    port: Port = 8378,
    allow_host: list[str] = value([], "A name this server answers to."),
    database: Database = None,
    quiet: Quiet = False,
) -> None:
    """Serve the study's pages. It does not start if what is judged changed since it was frozen.

    \b
    allears study serve my-study
    allears study serve my-study --host 0.0.0.0 --allow-host study.example.org --database postgresql://localhost/studies
    """
    from allears.serve.run import address, listen, log_to_standard_error, run
    from allears.study.app import StudySettings, create_study_app
    from allears.study.session import Sessions
    from allears.study.systems import open_talkers

    settings = StudySettings(host=host, port=port, hosts=tuple(allow_host))
    log_to_standard_error(quiet=quiet)
    with _opened(folder, database, sources=True) as (design, frozen, store), listen(settings) as opened:
        talkers = open_talkers(design.systems, folder) if design.chat is not None else {}
        app = create_study_app(Sessions(design, frozen, store, talkers), settings)
        say(f"{address(opened)}/study#open={store.open_token}")
        say(
            f"the open link is above; answers go to {store.place}; `allears study people` makes links for one person"
        )
        run(app, settings, opened)


@app.command()
def people(
    folder: Folder,
    *,
    add: int = value(0, "Make so many new links, each for one person.", min=0),
    address: str = value("http://127.0.0.1:8378", "Where the study is served, for new links."),
    database: Database = None,
) -> None:
    """Who takes part (by random names) with their return codes; or new links for so many people.

    \b
    allears study people my-study
    allears study people my-study --add 20 --address https://study.example.org > links.txt
    """
    with _opened(folder, database) as (_, _, store):
        if add:
            for _ in range(add):
                print(f"{address.rstrip('/')}/study#link={store.new_link()}")
            return
        table = framed_table("rater", "came by", "state", "units", "return code")
        for rater, done in store.people():
            table.add_row(rater.name, rater.source, rater.state, str(done), rater.code)
        console.print(table, highlight=False)
        say(f"open link: {address.rstrip('/')}/study#open={store.open_token}")


@app.command()
def report(
    folder: Folder,
    *,
    out: Path | None = optional("Where to write it. Default: report/ in the study's folder."),
    database: Database = None,
) -> None:
    """Tables as in the papers (Markdown, LaTeX, HTML) with tests, agreement, power and plots.

    \b
    allears study report my-study
    """
    from allears.study.analysis.render import markdown
    from allears.study.analysis.report import build_report, write_report

    with _opened(folder, database) as (design, frozen, store):
        found = build_report(design, frozen, store)
    files = write_report(found, design, out or folder / "report")
    print(found.summary)
    for table in found.tables:
        print()
        print(markdown(table))
    say("written: " + ", ".join(map(str, files)))


@app.command()
def export(
    folder: Folder,
    *,
    out: Path | None = optional("Where to write it. Default: export/ in the study's folder."),
    database: Database = None,
) -> None:
    """Raw data as CSV and JSONL, under random names; what people wrote is masked where it names somebody.

    \b
    allears study export my-study --out data
    """
    from allears.study.export import export as export_study

    with _opened(folder, database) as (design, frozen, store):
        files = export_study(design, frozen, store, out or folder / "export")
    say("written: " + ", ".join(map(str, files)))


@app.command()
def withdraw(
    folder: Folder,
    who: str = argument("A rater's random name, return code, or id on Prolific or MTurk."),
    *,
    yes: Yes = False,
    database: Database = None,
) -> None:
    """Delete everything that a participant answered and wrote, for good.

    \b
    allears study withdraw my-study K3V9-2QXA
    """
    with _opened(folder, database) as (_, _, store):
        rater = store.find(who)
        if not yes:
            typer.confirm(f"Delete everything of {rater.name}? It cannot be brought back.", abort=True)
        gone = store.withdraw(rater)
    say(f"deleted: {gone} answers and situations of {rater.name}; their units go back to the pool")


@contextmanager
def _opened(
    folder: Path, database: str | None, *, sources: bool = False
) -> Iterator[tuple[Design, Frozen, Store]]:
    """A study and its answers; with `sources` only if the systems themselves are as they were."""
    from allears.study.design_file import read_design
    from allears.study.frozen import load_frozen
    from allears.study.store import Store
    from allears.study.units import build_units

    design = read_design(folder)
    frozen = load_frozen(design, folder, sources=sources)
    url = database or str(folder / ANSWERS)
    with Store(url, design, build_units(design, frozen), frozen.digest) as store:
        yield design, frozen, store
