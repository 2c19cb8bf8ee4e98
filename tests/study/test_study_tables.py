"""The papers' tables from known answers: what counts, what is bold, and how they are written."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from study_making import ITEMS, PREFERENCE, TOP, system

from allears.metrics.significance import sign_test
from allears.study.analysis import render
from allears.study.analysis.annotations import annotation_tables, unit_values
from allears.study.analysis.judgements import Judgement
from allears.study.analysis.plots import plots
from allears.study.analysis.preferences import preference_tables, score, verdicts
from allears.study.analysis.ratings import item_means, rating_tables, system_tests
from allears.study.analysis.reliability import agreement_table
from allears.study.analysis.render import Table, TableCell
from allears.study.analysis.report import StudyReport, tables_of, write_report
from allears.study.blocks import ChoiceQuestion
from allears.study.design import Design
from allears.study.design_file import parse_design, shipped_design

THREE_RATERS = "[raters]\nper_unit = 3\nfourth = 'better'\n"


def by_name(tables: list[Table]) -> dict[str, Table]:
    return {table.name: table for table in tables}


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in cells] for cells in table.rows]


# --- ratings


@pytest.fixture
def likert() -> Design:
    text = shipped_design("likert").split("[[systems]]")[0]
    systems = system("MoEL", group="Generative", columns="") + system("MIME", group="Generative")
    text += systems.replace('columns = ""\n', 'columns = { "#params" = "23.10M" }\n')
    return parse_design(text + system("Gold", group="Gold").replace('outputs = "Gold.jsonl"', "gold = true"))


def rated(system: str, question: str, values: dict[str, list[int]], emotion: str = "") -> list[Judgement]:
    return [
        Judgement(f"r{place}", f"{item}/{system}", item, question, value, system, (system,), emotion)
        for item, given in values.items()
        for place, value in enumerate(given)
    ]


@pytest.fixture
def ratings() -> list[Judgement]:
    moel = {"1": [2, 3, 3], "2": [3, 3, 4], "3": [2, 2, 2]}
    mime = {"1": [4, 4, 5], "2": [4, 3, 4], "3": [3, 4, 4]}
    return [
        *rated("MoEL", "empathy", moel, "sad"),
        *rated("MIME", "empathy", mime, "sad"),
        *rated("Gold", "empathy", {"1": [5, 5, 5]}, "proud"),
        *rated("MIME", "empathy", {"4": [1]}, "proud"),
    ]


def test_ratings_are_means_with_sem_over_all_ratings(likert: Design, ratings: list[Judgement]):
    table = by_name(rating_tables(likert, ratings))["ratings"]
    assert table.header == ("Group", "Model", "#params", "Empathy", "Relevance", "Fluency")
    rows = texts(table)
    # 2 3 3 3 3 4 2 2 2: mean 24/9, squared deviations 4, s = sqrt(4/8), s / 3
    assert rows[0][:4] == ["Generative", "MoEL", "23.10M", "2.67 ± 0.24"]
    assert rows[1][3] == "3.60 ± 0.34"
    assert "ED, Tables 2 and 8" in table.caption


def test_the_best_of_a_group_is_bold_and_peoples_own_replies_do_not_compete(
    likert: Design, ratings: list[Judgement]
):
    table = by_name(rating_tables(likert, ratings))["ratings"]
    assert [cells[3].bold for cells in table.rows] == [False, True, False]


def test_mimes_table_has_means_alone(likert: Design, ratings: list[Judgement]):
    table = by_name(rating_tables(likert, ratings))["ratings-means"]
    assert texts(table)[0][3] == "2.67"


def test_polarities_are_split_as_mime_does(likert: Design, ratings: list[Judgement]):
    table = by_name(rating_tables(likert, ratings))["ratings-polarity"]
    row = dict(zip(table.header, texts(table)[0], strict=True))
    assert row["MIME Pos"] == "1.00"
    assert row["MIME Neg"] == "3.89"
    assert row["MoEL Pos"] == "–"
    best = [name for name, cell in zip(table.header, table.rows[0], strict=True) if cell.bold]
    assert best == ["MIME Neg", "Gold Pos"]


def test_every_emotion_has_its_row(likert: Design, ratings: list[Judgement]):
    table = by_name(rating_tables(likert, ratings))["ratings-emotion-empathy"]
    assert [cells[0] for cells in texts(table)] == ["proud", "sad"]


def test_tests_between_systems_are_on_items(likert: Design, ratings: list[Judgement]):
    assert item_means(ratings, "empathy", "MoEL") == pytest.approx({"1": 8 / 3, "2": 10 / 3, "3": 2})
    same_items = [each for each in ratings if each.item != "4" and each.system != "Gold"]
    ((question, larger, smaller, test, p),) = system_tests(likert, same_items)
    assert (question, larger, smaller, test.paired, test.counts) == ("empathy", "MIME", "MoEL", True, (3, 3))
    assert p == pytest.approx(test.p)


# --- preferences


def preference(count: str = "majority", names: tuple[str, ...] = ("MIME", "MoEL")) -> Design:
    return parse_design(
        TOP
        + PREFERENCE
        + THREE_RATERS
        + ITEMS
        + "".join(system(name) for name in names)
        + f'[analysis]\nreference = "{names[0]}"\ncount = "{count}"\n'
    )


def voted(
    unit: str, votes: list[str], systems: tuple[str, str] = ("MoEL", "MIME"), emotion: str = ""
) -> list[Judgement]:
    return [
        Judgement(f"r{place}", unit, unit, "better", vote, "", systems, emotion)
        for place, vote in enumerate(votes)
    ]


def test_the_majority_of_each_unit_counts_and_a_fourth_vote_decides():
    rows = [
        *voted("1", ["MIME", "MIME", "MoEL"]),
        *voted("2", ["MIME", "MoEL", "tie", "MoEL"]),
        *voted("3", ["tie", "tie", "MIME"]),
        *voted("4", ["MIME", "MoEL", "tie"]),  # nobody has come for the fourth yet
    ]
    decided, split = verdicts(preference(), rows, "better")
    assert ([each.better for each in decided], split) == (["MIME", "MoEL", "tie"], 1)
    table = by_name(preference_tables(preference(), rows))["wins-better"]
    assert texts(table)[0][:5] == ["MIME vs. MoEL", "33.33%", "33.33%", "33.33%", "3"]
    assert "1 units have no majority" in " ".join(table.notes)


def test_mimes_table_3_comes_out_of_its_counts():
    # 128 instances; 49.69, 36.25 and 42.06 of them would be MIME's 38.82%, 28.32% and 32.86% against MoEL
    rows = [
        each
        for number, better in enumerate(["MIME"] * 50 + ["MoEL"] * 36 + ["tie"] * 42)
        for each in voted(str(number), [better] * 3)
    ]
    table = by_name(preference_tables(preference(), rows))["wins-better"]
    row = dict(zip(table.header, texts(table)[0], strict=True))
    assert (row["Wins"], row["Loses"], row["Tie"]) == ("39.06%", "28.12%", "32.81%")
    assert float(row["p"]) == pytest.approx(
        sign_test([1] * 50 + [0] * 36, [0] * 50 + [1] * 36).p_value, abs=5e-4
    )
    assert int(row["More ratings"]) > 0


def test_single_judgements_count_where_the_design_says_so():
    rows = voted("1", ["MIME", "MoEL", "tie"]) + voted("2", ["MIME", "MIME", "tie"])
    decided, split = verdicts(preference("judgements"), rows, "better")
    found = score(decided, "MIME", "MoEL")
    assert (found.wins, found.losses, found.ties, split) == (3, 1, 2, 0)
    assert score(decided, "MoEL", "MIME").wins == 1


def test_pals_table_has_an_aspect_a_row_and_its_daggers():
    text = shipped_design("interactive").split("[[systems]]")[0]
    ours = "".join(f'[[systems]]\nname = "{name}"\nvoice = "{name}"\n' for name in ("PAL", "MISC"))
    design = parse_design(text + ours + '[analysis]\nreference = "PAL"\ncount = "judgements"\n')
    share = {"coherence": (34, 13, 3), "overall": (20, 14, 16), "comforting": (27, 15, 8)}  # of fifty
    rows = [
        Judgement(f"r{place}", str(place), str(place), question, better, "", ("PAL", "MISC"))
        for question, (wins, losses, ties) in share.items()
        for place, better in enumerate(["PAL"] * wins + ["MISC"] * losses + ["tie"] * ties)
    ]
    table = by_name(preference_tables(design, rows))["aspects"]
    assert table.header[1:] == ("PAL vs. MISC: Win", "PAL vs. MISC: Lose", "PAL vs. MISC: Tie")
    found = {cells[0]: cells[1:] for cells in texts(table)}
    assert found["Coherence"] == ["68†", "26", "6"]
    assert found["Comforting"] == ["54‡", "30", "16"]
    assert found["Overall"] == ["40", "28", "32"]
    assert table.rows[0][1].bold


def test_many_systems_are_ranked():
    design = preference(names=("a", "b", "c"))
    rows = [
        each
        for pair in (("a", "b"), ("b", "c"), ("a", "c"))
        for number in range(10)
        for each in voted(f"{pair}{number}", [pair[0] if number < 7 else pair[1]] * 3, pair)
    ]
    table = by_name(preference_tables(design, rows))["ranking-better"]
    assert [cells[1] for cells in texts(table)] == ["a", "b", "c"]


def test_wins_are_also_told_by_polarity_and_by_emotion():
    rows = voted("1", ["MIME"] * 3, emotion="sad") + voted("2", ["MoEL"] * 3, emotion="proud")
    tables = by_name(preference_tables(preference(), rows))
    assert [cells[1:4] for cells in texts(tables["wins-polarity-better"])] == [
        ["positive", "0.00%", "100.00%"],
        ["negative", "100.00%", "0.00%"],
    ]
    assert [cells[1] for cells in texts(tables["wins-emotion-better"])] == ["proud", "sad"]


# --- annotations


def annotated(group: str, item: str, sentiments: list[str], empathies: list[str]) -> list[Judgement]:
    return [
        Judgement(f"r{place}", item, item, question, value, group=group)
        for question, values in (("sentiment", sentiments), ("empathy", empathies))
        for place, value in enumerate(values)
    ]


def test_pecs_table_aggregates_by_majority_and_tests_against_the_control_group():
    design = parse_design(shipped_design("empathy-annotation"))
    rows: list[Judgement] = []
    for number in range(10):
        rows += annotated("happy", f"h{number}", ["positive"] * 3, ["yes", "yes", "no"])
        rows += annotated(
            "control",
            f"c{number}",
            ["neutral", "positive", "negative"],
            ["no", "no", "yes" if number else "no"],
        )
    tables = by_name(annotation_tables(design, rows))
    assert tables["groups"].header == ("", "happy", "control")
    assert texts(tables["groups"]) == [
        ["Sentiment", "1.00 ± 0.00", "0.00 ± 0.00"],
        ["Empathy", "1.00 ± 0.00", "0.00 ± 0.00"],
    ]
    rows += annotated("happy", "h10", ["negative"] * 3, ["no"] * 3) + annotated(
        "control", "c10", ["positive"] * 3, ["yes"] * 3
    )
    (sentiment, empathy) = texts(by_name(annotation_tables(design, rows))["group-tests"])
    assert sentiment[1] == empathy[1] == "happy > control"
    assert empathy[5] == "< 0.001"


def test_a_split_without_majority_counts_as_its_mean():
    design = parse_design(shipped_design("empathy-annotation"))
    question = design.question("sentiment")
    assert isinstance(question, ChoiceQuestion)
    rows = annotated("g", "1", ["negative", "neutral", "positive"], []) + annotated(
        "g", "2", ["positive", "positive", "negative"], []
    )
    assert unit_values(rows, question) == {"1": ("g", 0.0), "2": ("g", 1.0)}


def test_persona_judgements_are_shares_of_all_judgements():
    design = parse_design(shipped_design("persona-judgement"))
    votes = ["reasonable"] * 262 + ["contradictory"] * 24 + ["hallucinatory"] * 12 + ["other"] * 2
    rows = [
        Judgement(f"r{place % 3}", str(place // 3), str(place // 3), "judgement", vote)
        for place, vote in enumerate(votes)
    ]
    table = by_name(annotation_tables(design, rows))["shares-judgement"]
    # PAL, section 3.2: 87.3%, 8%, 4% and 0.667% of 300 judgements
    assert [cells[1].split(" ")[0] for cells in texts(table)] == ["87.3%", "8.0%", "4.0%", "0.7%"]


def test_agreement_leaves_the_fourth_opinion_to_alpha():
    rows = [each for number in range(5) for each in voted(str(number), ["MIME", "MIME", "tie"])]
    rows += voted("9", ["MIME", "MoEL", "tie", "MIME"])
    (row,) = texts(agreement_table(preference(), rows))
    assert row[3:5] == ["6", "3"]


# --- written three ways


TABLE = Table(
    "t",
    "A & B",
    ("Model", "Score_1"),
    ((TableCell("50% <x>|", italic=True), TableCell("3.10 ± 0.12", bold=True)),),
    ("p < 0.05.",),
)


def test_a_table_is_written_in_markdown():
    assert render.markdown(TABLE).splitlines()[2:5] == [
        "| Model | Score_1 |",
        "| --- | ---: |",
        "| *50% <x>\\|* | **3.10 ± 0.12** |",
    ]


def test_a_table_is_written_in_latex_with_its_signs_escaped():
    written = render.latex(TABLE)
    assert r"\textit{50\% $<$x$>$|} & \textbf{3.10 $\pm$ 0.12} \\" in written
    assert r"Score\_1" in written
    assert r"\caption{A \& B. p $<$ 0.05.}" in written


def test_a_table_is_written_in_html_with_its_signs_escaped():
    written = render.html(TABLE)
    assert "<em>50% &lt;x&gt;|</em>" in written
    assert "<strong>3.10 ± 0.12</strong>" in written
    assert "<x>" not in written


def test_a_report_has_all_three_and_pictures(likert: Design, ratings: list[Judgement], tmp_path: Path):
    report = StudyReport("Title", "Summary.", tuple(tables_of(likert, ratings)), tuple(ratings))
    files = write_report(report, likert, tmp_path)
    assert [file.name for file in files] == [
        "report.md",
        "report.tex",
        "report.html",
        "ratings.svg",
        "emotions.svg",
    ]
    assert "plots/ratings.svg" in (tmp_path / "report.html").read_text()
    before = (tmp_path / "plots" / "ratings.svg").read_text()
    assert "<svg" in before
    write_report(report, likert, tmp_path)
    assert (tmp_path / "plots" / "ratings.svg").read_text() == before


@pytest.mark.parametrize("name", ["preference", "empathy-annotation"])
def test_pictures_of_the_other_designs_are_drawn(name: str, tmp_path: Path):
    if name == "preference":
        design, rows = preference(), voted("1", ["MIME", "MIME", "tie"])
    else:
        design = parse_design(shipped_design(name))
        rows = [
            each for group, number in product(("happy", "control"), range(3))
            for each in annotated(group, f"{group}{number}", ["positive"] * 3, ["yes"] * 3)
        ]  # fmt: skip
    assert [path.stat().st_size > 1000 for _, path in plots(design, rows, tmp_path)] == [True]


def test_a_study_without_answers_has_no_tables():
    assert tables_of(preference(), []) == []
