"""The papers' tables: each has a plan that can be carried out, and some are carried out on made-up corpora."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from allears.errors import AllearsError
from allears.experiments.contract import Empty, Experiment
from allears.experiments.fingerprints import code_of
from allears.experiments.measures import KINDS
from allears.experiments.registry import NAMES, experiment, experiments
from allears.experiments.setting import Setting
from allears.experiments.small import small_changes
from allears.experiments.verify import documentation_pages, verify
from allears.training.recipe import read_recipe
from command_line import Run

REPOSITORY = Path(__file__).parent.parent.parent
every_experiment = pytest.mark.parametrize("name", NAMES)
SETTINGS = (Setting(), Setting(small=True), Setting(seeds=3))


@every_experiment
def test_its_plan_asks_for_known_measurements_in_its_own_rows_and_columns(name: str) -> None:
    for setting in SETTINGS:
        found = experiment(name).plan(setting)
        assert found.asks
        assert all(row in found.rows and column in found.columns for row, column in found.asks)
        assert {each.kind for each in found.measurements} <= set(KINDS)
        assert all(ask.why.strip() for ask in found.asks.values() if isinstance(ask, Empty))


@every_experiment
def test_its_recipes_parse_in_full_and_small(name: str, tmp_path: Path) -> None:
    for run in experiment(name).plan(Setting(seeds=2)).runs:
        path = REPOSITORY / "recipes" / f"{run.recipe}.toml"
        recipe = read_recipe(path, run.changes)
        read_recipe(path, [*run.changes, *small_changes(recipe, tmp_path)])
        for key, _ in run.uses:
            table, _, last = key.partition(".")
            assert last in recipe.tables[table], f"{run.name}: the recipe has no {key}"


@every_experiment
def test_published_numbers_and_claims_are_of_its_cells(name: str) -> None:
    found: Experiment = experiment(name)
    plan = found.plan(Setting())
    for row, column in found.published:
        assert row in plan.rows
        assert column in plan.columns
    assert not found.published or found.source
    for claim in found.claims:
        assert len(claim.falling) > 1
        for place in claim.falling:
            assert isinstance(place, float) or place in plan.asks, place
    picture = found.picture
    assert picture is None or all(column in plan.columns for column in picture.columns)


def test_equal_runs_of_different_tables_are_one_and_different_ones_have_different_names() -> None:
    runs = {run for each in experiments() for run in each.plan(Setting()).runs}
    assert len({run.name for run in runs}) == len(runs)


def test_an_unknown_experiment_is_one_sentence_with_the_nearest_name() -> None:
    with pytest.raises(AllearsError, match="did you mean pec-table-5"):
        experiment("pec-table-55")


def test_list_shows_all(run: Run, tmp_path: Path) -> None:
    answer = run("experiment", "list", "--results", tmp_path / "none.json")
    assert answer.code == 0
    assert [name for name in NAMES if name not in answer.out] == []


def test_listing_needs_no_torch() -> None:
    code = (
        "import sys; from allears.experiments.registry import experiments; from allears.experiments.setting import "
        "Setting; [each.plan(Setting()) for each in experiments()]; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture
def small(run: Run, corpus_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run an experiment in the small setting on a made-up ED; its cells by row and column."""
    checkout = tmp_path / "checkout"
    shutil.copytree(REPOSITORY / "recipes", checkout / "recipes")
    for name in ("word-pretrain", "moel-pretrain"):
        recipe = checkout / "recipes" / f"{name}.toml"
        text, changes = re.subn(r"(?m)^train = .*$", 'train = ["ed"]', recipe.read_text(encoding="utf-8"))
        assert changes == 1
        recipe.write_text(text, encoding="utf-8")  # the other dialogue is not here
    monkeypatch.chdir(checkout)
    monkeypatch.delenv("ALLEARS_ENCODER", raising=False)

    def small(name: str, *options: object) -> dict[tuple[str, str], dict]:
        answer = run(
            "experiment", "run", name, "--small", "--home", tmp_path / "home", "--root", corpus_root, *options
        )
        assert answer.code == 0, answer.err
        record = json.loads((tmp_path / "home" / "results.json").read_text(encoding="utf-8"))
        return {(cell["row"], cell["column"]): cell for cell in record["experiments"][name]["cells"]}

    return small


def test_emotions_of_generators_are_measured_from_training_to_the_verified_report(
    small, run: Run, tmp_path: Path
) -> None:
    cells = small("mime-emotions")
    assert all(0 <= cell["value"] <= 100 for cell in cells.values())
    assert len(cells) == 9
    results = tmp_path / "home" / "results.json"
    report = ("--small", "--results", results)
    assert run("experiment", "report", *report).code == 0
    assert run("experiment", "verify", *report).code == 0
    page = tmp_path / "home" / "mime-emotions.md"
    assert "Small run" in page.read_text(encoding="utf-8")
    page.write_text(page.read_text(encoding="utf-8").replace("| 38.0 |", "| 99.9 |", 1), encoding="utf-8")
    answer = run("experiment", "verify", *report)
    assert answer.code == 1
    assert "99.9" in answer.err


def test_shares_of_emotions_are_counted_and_missing_emotions_say_so(small) -> None:
    cells = small("ed-figure-3")
    shares = [
        cell["value"] for (_, column), cell in cells.items() if column == "share, %" and "value" in cell
    ]
    assert sum(shares) == pytest.approx(100.0)
    assert "lacks" in cells["jealous", "share, %"]["why"]


def test_a_corpus_that_is_not_at_hand_empties_its_cells_with_a_sentence(small, corpus_root: Path) -> None:
    cells = small("pec-table-1")
    assert all("value" not in cell and "RC_sample.zst" in cell["why"] for cell in cells.values())
    assert all(str(corpus_root) not in cell["why"] for cell in cells.values())  # nobody else's folders


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """A folder as `allears study export` writes it."""
    rows = [
        {"unit": f"{group}-{item}", "group": group, "question": "empathy", "value": value, "state": "counted"}
        for group, votes in (("happy", ("yes", "yes", "no")), ("control", ("no", "no", "yes")))
        for item in range(2)
        for value in votes
    ]
    rows.append(
        {"unit": "happy-0", "group": "happy", "question": "empathy", "value": "no", "state": "screened"}
    )
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path


def test_pecs_table_2_comes_from_a_studys_export(small, answers: Path) -> None:
    assert "allears study export" in small("pec-table-2")["Empathy", "happy"]["why"]
    cells = small("pec-table-2", "--study", answers)
    assert cells["Empathy", "happy"]["value"] == 1.0
    assert cells["Empathy", "control group"]["value"] == 0.0
    assert "why" in cells["Sentiment", "happy"]


def test_what_was_measured_in_an_earlier_sitting_is_kept_only_if_asked(small, answers: Path) -> None:
    place = ("Empathy", "happy")
    measured = small("pec-table-2", "--study", answers)[place]
    for _ in range(2):
        assert small("pec-table-2", "--keep")[place] == measured | {"code": code_of("experiments")}
    assert "value" not in small("pec-table-2")[place]


def test_the_committed_pages_come_from_the_committed_results() -> None:
    folder = REPOSITORY / "docs" / "results"
    assert verify(experiments(), folder / "results.json", folder, documentation_pages(REPOSITORY)) == []
