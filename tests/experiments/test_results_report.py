"""The report is drawn from results.json alone, and `verify` notices whatever is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_experiment import MADE_UP

from allears.errors import AllearsError
from allears.experiments.contract import Cell, Claim, Done, Result
from allears.experiments.report.writing import write_report
from allears.experiments.store import keep_result, read_results
from allears.experiments.verdicts import VerdictWord, judge, verdicts
from allears.experiments.verify import verify

RESULT = Result(
    "made-up",
    False,
    "allears experiment run made-up",
    {
        ("first", "R@1"): Cell(31.25, 30.0, 32.5, (31.25,)),
        ("second", "R@1"): Cell(40.0, 38.0, 42.0, (39.0, 41.0)),
        ("broken", "R@1"): Cell(why="there is no such <model>"),
        ("both", "R@1"): Cell(8.75),
        ("first", "MRR"): Cell(why="people would have to say this"),
    },
    (Done("first", "allears train recipes/tiny.toml", 12.5, "a made-up GPU", "0123"),),
    "4567",
    {"allears": "0"},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    keep_result(tmp_path / "results.json", RESULT)
    write_report([MADE_UP], read_results(tmp_path / "results.json"), tmp_path)
    return tmp_path


def problems(folder: Path, *pages: Path) -> list[str]:
    return verify([MADE_UP], folder / "results.json", folder, pages)


def test_results_are_read_as_they_were_kept(folder: Path) -> None:
    (found,) = read_results(folder / "results.json").values()
    assert found.cells["second", "R@1"] == RESULT.cells["second", "R@1"]
    assert found.cells["broken", "R@1"].why == "there is no such <model>"
    assert found.steps == RESULT.steps


def test_a_page_shows_ours_published_difference_interval_seeds_reasons_and_commands(folder: Path) -> None:
    page = (folder / "made-up.md").read_text(encoding="utf-8")
    assert "| first | 31.2 | 30.0 to 32.5 |  | 12.0 | +19.2 |" in page
    assert "| second | 40.0 | 38.0 to 42.0 | 39.0, 41.0 | 13.5 | +26.5 |" in page
    assert "broken: R@1: there is no such &lt;model>" in page
    assert "first: MRR: people would have to say this" in page
    assert "Everything is made up." in page
    assert "12 s on a made-up GPU" in page
    assert "allears train recipes/tiny.toml" in page
    site = (folder / "site" / "made-up.html").read_text(encoding="utf-8")
    assert "<td>31.2</td>" in site
    assert "no such &lt;model&gt;" in site
    assert "<script" not in site
    assert (folder / "made-up.svg").is_file()


def test_the_front_page_says_which_claims_held(folder: Path) -> None:
    front = (folder / "index.md").read_text(encoding="utf-8")
    assert "| Another epoch helps | held (40, 31.25) | [made-up](made-up.md) |" in front
    assert "1 of 1 tables and figures were run, 3 of 5 cells have a value" in front
    assert "claims: 1 of 1 held" in (folder / "badge.svg").read_text(encoding="utf-8")


def test_what_was_not_run_says_so_with_its_command(tmp_path: Path) -> None:
    write_report([MADE_UP], {}, tmp_path)
    page = (tmp_path / "made-up.md").read_text(encoding="utf-8")
    assert "**Not run yet.** `allears experiment run made-up`" in page
    assert "| first | not run yet |" in page
    assert "not run yet" in (tmp_path / "index.md").read_text(encoding="utf-8")
    assert verify([MADE_UP], tmp_path / "results.json", tmp_path, []) == []


def test_a_small_run_is_marked_on_every_page_and_proves_no_claim(tmp_path: Path) -> None:
    write_report([MADE_UP], {"made-up": replace(RESULT, small=True)}, tmp_path)
    for name in ("index.md", "made-up.md", "site/index.html", "site/made-up.html"):
        assert "Small run" in (tmp_path / name).read_text(encoding="utf-8"), name
    assert "+19.2" not in (tmp_path / "made-up.md").read_text(encoding="utf-8")
    assert [each.word for each in verdicts(MADE_UP, replace(RESULT, small=True))] == [VerdictWord.SMALL]


def test_an_untouched_report_is_verified(folder: Path) -> None:
    assert problems(folder) == []


@pytest.mark.parametrize("name", ["made-up.md", "index.md", "site/made-up.html"])
def test_a_changed_number_is_found_with_its_place(folder: Path, name: str) -> None:
    page = folder / name
    text = page.read_text(encoding="utf-8")
    old = "31.25" if name == "index.md" else "31.2"
    page.write_text(text.replace(old, "61.2", 1), encoding="utf-8")
    (problem,) = problems(folder)
    line = text[: text.index(old)].count("\n") + 1
    assert problem.startswith(f"{page}, line {line}: says ")
    assert "61.2" in problem


def test_a_number_changed_in_results_json_by_hand_is_found(folder: Path) -> None:
    path = folder / "results.json"
    path.write_text(path.read_text(encoding="utf-8").replace("31.25", "51.25"), encoding="utf-8")
    assert ["changed by hand" in problem for problem in problems(folder)] == [True]
    with pytest.raises(AllearsError, match="changed by hand"):
        read_results(path)


def test_a_page_says_which_cells_were_kept_and_under_which_code(folder: Path) -> None:
    pages = ("made-up.md", "site/made-up.html")
    assert all("kept from" not in (folder / name).read_text(encoding="utf-8") for name in pages)
    codes = {("first", "R@1"): "89ab", ("second", "R@1"): "89ab", ("both", "R@1"): "cdef"}
    cells = {place: replace(cell, code=codes.get(place, "")) for place, cell in RESULT.cells.items()}
    path = folder / "results.json"
    keep_result(path, replace(RESULT, cells=cells))
    assert read_results(path)["made-up"].cells["second", "R@1"] == cells["second", "R@1"]
    write_report([MADE_UP], read_results(path), folder)
    for name in pages:
        page = (folder / name).read_text(encoding="utf-8")
        assert "2 cells were kept from an earlier sitting (code 89ab): first: R@1; second: R@1." in page
        assert "1 cell was kept from an earlier sitting (code cdef): both: R@1." in page
    assert problems(folder) == []
    path.write_text(path.read_text(encoding="utf-8").replace("cdef", "4567"), encoding="utf-8")
    assert "changed by hand" in problems(folder)[0]


def test_a_missing_page_and_a_picture_of_other_numbers_are_found(folder: Path) -> None:
    (folder / "made-up.md").unlink()
    cells = {**RESULT.cells, ("first", "R@1"): Cell(20.0)}
    path = folder / "results.json"
    path.unlink()
    keep_result(path, replace(RESULT, cells=cells))
    found = "\n".join(problems(folder))
    assert "made-up.md: is missing" in found
    assert "made-up.svg: was drawn from other numbers" in found


def test_a_number_quoted_in_another_page_must_be_that_of_the_result(folder: Path) -> None:
    page = folder / "README.md"
    quote = "<!-- result made-up | second | R@1 -->{}<!-- /result -->"
    page.write_text("It reaches " + quote.format("40.0"), encoding="utf-8")
    assert problems(folder, page) == []
    page.write_text("\nIt reaches " + quote.format("45.0"), encoding="utf-8")
    assert problems(folder, page) == [
        f"{page}, line 2: says 45.0 for made-up, second, R@1; results.json says 40.0"
    ]
    page.write_text(quote.replace("second", "third").format("1"), encoding="utf-8")
    assert "does not have" in problems(folder, page)[0]


def test_small_and_full_results_never_share_a_file(folder: Path) -> None:
    with pytest.raises(AllearsError, match="full results already"):
        keep_result(folder / "results.json", replace(RESULT, experiment="other", small=True))


def test_a_file_that_is_no_results_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps([1, 2]))
    with pytest.raises(AllearsError, match=r"results\.json: not a file that"):
        read_results(path)


A, B = ("a", "x"), ("b", "x")


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        (Cell(3.0, 2.5, 3.5), Cell(2.0, 1.5, 2.4), VerdictWord.HELD),
        (Cell(3.0, 2.0, 4.0), Cell(2.5, 1.5, 3.5), VerdictWord.LEANS),
        (Cell(3.0), Cell(2.0), VerdictWord.BARE),
        (Cell(2.0, 1.9, 2.1), Cell(2.0, 1.9, 2.1), VerdictWord.FAILED),
        (Cell(1.0), Cell(2.0), VerdictWord.FAILED),
        (Cell(1.0), Cell(why="nobody knows"), VerdictWord.UNKNOWN),
    ],
)
def test_a_claim_is_judged_by_cells_and_their_intervals(first: Cell, second: Cell, word: VerdictWord) -> None:
    assert judge(Claim("", (A, B)), {A: first, B: second}).word is word


def test_a_claim_may_compare_with_a_published_number() -> None:
    cells = {A: Cell(50.0, 49.0, 51.0)}
    assert judge(Claim("", (A, 48.0)), cells).word is VerdictWord.HELD
    assert judge(Claim("", (A, 49.5)), cells).word is VerdictWord.LEANS
    assert judge(Claim("", (49.5, A)), cells).word is VerdictWord.FAILED


def test_what_we_make_of_a_claim_is_told_where_it_did_not_hold(tmp_path: Path) -> None:
    held = Claim("Another epoch helps", (("second", "R@1"), ("first", "R@1")), "Nobody reads this.")
    failed = Claim("One epoch is enough", (("first", "R@1"), ("second", "R@1")), "It is too short.")
    experiment = replace(MADE_UP, claims=(held, failed))
    keep_result(tmp_path / "results.json", RESULT)
    write_report([experiment], read_results(tmp_path / "results.json"), tmp_path)
    for page in ("made-up.md", "index.md", "site/made-up.html", "site/index.html"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert "It is too short." in text, page
        assert "Nobody reads this." not in text, page
