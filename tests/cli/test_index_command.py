"""Every `allears index` command through `main`: what it prints, and its one sentence when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allears.runtime.candidates import read_candidates
from allears.runtime.index import CandidateIndex
from allears.training.export.ranker import export
from command_line import Answer, Run
from tiny_models import RESPONSES, tiny_selector


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`run` (torch), `bundle` and `other` (ONNX of two models), and `replies.txt`."""
    folder = tmp_path_factory.mktemp("index")
    options = {"similarity": "cosine", "temperature": "learned", "pooled": True}
    export(tiny_selector(folder / "run", **options), folder / "bundle")
    export(tiny_selector(folder / "other-run", seed=1, **options), folder / "other")
    (folder / "replies.txt").write_text("\n".join([*RESPONSES, "", RESPONSES[0]]) + "\n")
    return folder


@pytest.fixture
def index(run: Run, made: Path, tmp_path: Path) -> Path:
    assert (
        run("index", "build", made / "replies.txt", "--model", made / "bundle", "--out", tmp_path / "i").code
        == 0
    )
    return tmp_path / "i"


def test_build_says_how_many_replies_it_kept(run: Run, made: Path, tmp_path: Path):
    arguments = ("index", "build", made / "replies.txt", "--model", made / "bundle", "--out", tmp_path / "i")
    assert f"{tmp_path / 'i'}: 6 replies, exact search" in run(*arguments).out
    assert "7 replies, exact and approximate search" in run(*arguments, "--no-dedupe", "--graph").out


def test_search_prints_the_best_replies_and_needs_no_model_named(run: Run, index: Path):
    answer = run("index", "search", index, "my cat is lost", "-k", 2)
    assert answer.code == 0
    assert "first stage" in answer.out
    assert sum(text in answer.out for text in RESPONSES) == 2


def test_search_prints_json_for_machines(run: Run, index: Path):
    arguments = ("index", "search", index, "my cat is lost", "--json")
    hits = json.loads(run(*arguments).out)["hits"]
    assert len(hits) == 5
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    assert set(hits[0]) == {"text", "score", "first_stage_score", "tags", "id"}
    with_persona = json.loads(run(*arguments, "--persona", "my dog is my friend").out)["hits"]
    assert [hit["score"] for hit in with_persona] != [hit["score"] for hit in hits]


def test_several_messages_are_turns_with_the_persons_last(
    run: Run, index: Path, monkeypatch: pytest.MonkeyPatch
):
    asked = []
    monkeypatch.setattr(CandidateIndex, "search", lambda self, query, **options: asked.append(query) or [])
    run("index", "search", index, "my cat is lost", "tell me", "so sad")
    assert [(turn.speaker, turn.text) for turn in asked[0].context] == [
        ("seeker", "my cat is lost"),
        ("supporter", "tell me"),
        ("seeker", "so sad"),
    ]


def test_a_training_run_builds_and_searches_too(run: Run, made: Path, tmp_path: Path):
    run("index", "build", made / "replies.txt", "--model", made / "run", "--out", tmp_path / "i")
    hits = json.loads(run("index", "search", tmp_path / "i", "my cat is lost", "-k", 3, "--json").out)["hits"]
    assert len(hits) == 3


def test_tags_of_a_jsonl_pool_come_back(run: Run, made: Path, tmp_path: Path):
    pool = tmp_path / "pool.jsonl"
    pool.write_text('{"text": "so sorry", "tags": ["comfort", "[short]"]}\n{"text": "great news"}\n')
    run("index", "build", pool, "--model", made / "bundle", "--out", tmp_path / "i")
    assert "comfort, [short]" in run("index", "search", tmp_path / "i", "sad").out


def test_a_corpus_gives_its_responses_with_their_emotions(tmp_path: Path):
    (tmp_path / "empatheticdialogues").mkdir()
    (tmp_path / "empatheticdialogues" / "valid.csv").write_text(
        "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags\n"
        "c:0,1,sad,p,0,my cat is lost,,\nc:0,2,sad,p,1,so sorry,,\n"
        "c:1,1,proud,p,0,my job is great,,\nc:1,2,proud,p,1,great news,,\n"
    )
    found = read_candidates("ed", split="valid", root=tmp_path)
    assert [(item.text, item.tags) for item in found] == [
        ("so sorry", ("emotion:sad",)),
        ("great news", ("emotion:proud",)),
    ]


def test_a_jsonl_file_in_our_schema_is_read_as_a_corpus(tmp_path: Path):
    pool = tmp_path / "talks.jsonl"
    turns = [{"speaker": "seeker", "text": "sad"}, {"speaker": "supporter", "text": "so sorry"}]
    pool.write_text(json.dumps({"id": "1", "split": "train", "turns": turns}) + "\n")
    assert [item.text for item in read_candidates(pool)] == ["so sorry"]


def test_info_says_what_is_in_an_index(run: Run, made: Path, index: Path):
    answer = run("index", "info", index)
    for part in ("replies", "6", "exact", str((made / "bundle").resolve()), "fingerprint"):
        assert part in answer.out
    assert json.loads(run("index", "info", index, "--json").out)["candidates"] == 6


def test_replies_are_added_merged_and_removed(run: Run, made: Path, index: Path, tmp_path: Path):
    (tmp_path / "more.txt").write_text("my house\nmy boat\n" + RESPONSES[0])
    assert "2 added, 8 replies now" in run("index", "add", index, tmp_path / "more.txt").out
    (tmp_path / "third.txt").write_text("my job\nmy boat\n")
    run("index", "build", tmp_path / "third.txt", "--model", made / "bundle", "--out", tmp_path / "j")
    assert "1 added, 9 replies now" in run("index", "merge", index, tmp_path / "j").out
    assert "2 removed, 7 replies now" in run("index", "remove", index, 0, 7).out
    found = {
        hit["id"] for hit in json.loads(run("index", "search", index, "sad", "-k", 9, "--json").out)["hits"]
    }
    assert found == {1, 2, 3, 4, 5, 6, 8}


# --- what can be wrong


def sentence(answer: Answer) -> str:
    assert answer.code == 2
    assert "Traceback" not in answer.err
    return " ".join(answer.err.split())


def test_a_stale_index_is_refused(run: Run, made: Path, index: Path):
    said = sentence(run("index", "search", index, "sad", "--model", made / "other"))
    assert "this index is stale" in said
    assert f"allears index build POOL --model MODEL --out {index}" in said


def test_an_empty_pool_is_refused(run: Run, made: Path, tmp_path: Path):
    (tmp_path / "empty.txt").write_text("\n \n")
    said = sentence(
        run("index", "build", tmp_path / "empty.txt", "--model", made / "bundle", "--out", tmp_path / "i")
    )
    assert "empty.txt: the pool is empty" in said
    assert not (tmp_path / "i").exists()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{oops", "pool.jsonl, line 2: not JSON"),
        ('["a"]', 'pool.jsonl, line 2: expected an object with a "text"'),
        ('{"text": 5}', 'pool.jsonl, line 2: expected an object with a "text"'),
        ('{"text": "a", "tags": "b"}', 'pool.jsonl, line 2: "tags" must be a list of texts'),
    ],
)
def test_a_broken_line_of_a_pool_is_named(run: Run, made: Path, tmp_path: Path, line: str, problem: str):
    pool = tmp_path / "pool.jsonl"
    pool.write_text('{"text": "so sorry"}\n' + line + "\n")
    said = sentence(run("index", "build", pool, "--model", made / "bundle", "--out", tmp_path / "i"))
    assert problem in said


def test_bytes_that_are_no_text_are_named(run: Run, made: Path, tmp_path: Path):
    (tmp_path / "pool.txt").write_bytes(b"so sorry\n\xff\xfe\n")
    said = sentence(
        run("index", "build", tmp_path / "pool.txt", "--model", made / "bundle", "--out", tmp_path / "i")
    )
    assert "pool.txt, line 2: not valid UTF-8" in said


def test_a_pool_that_is_neither_file_nor_corpus_is_named(run: Run, made: Path, tmp_path: Path):
    said = sentence(run("index", "build", "nowhere", "--model", made / "bundle", "--out", tmp_path / "i"))
    assert "unknown corpus 'nowhere'" in said


def test_a_model_that_is_not_there_is_named(run: Run, made: Path, index: Path, tmp_path: Path):
    said = sentence(
        run("index", "build", made / "replies.txt", "--model", tmp_path / "no", "--out", tmp_path / "i")
    )
    assert "no such model" in said
    assert "no such model" in sentence(run("index", "search", index, "sad", "--model", tmp_path / "no"))


def test_a_folder_that_is_no_index_is_refused(run: Run, tmp_path: Path):
    for command in (("info", tmp_path), ("search", tmp_path, "sad"), ("remove", tmp_path, 1)):
        assert "no index.json here" in sentence(run("index", *command))


def test_approximate_search_of_an_index_without_a_graph_is_refused(run: Run, index: Path):
    assert "has no graph" in sentence(run("index", "search", index, "sad", "--approximate"))
