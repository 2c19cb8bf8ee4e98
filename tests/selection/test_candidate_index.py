"""The index: what is found, what changes leave behind, and the sentence for each thing that can be wrong."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.runtime import nearest
from allears.runtime.candidates import Candidate
from allears.runtime.index import CandidateIndex
from allears.runtime.index_files import IndexWriter
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import CandidateStates, Query
from allears.training.export.ranker import export
from tiny_models import MODELS, RESPONSES, queries, tiny_selector


@dataclass
class Readable:
    """A model whose vectors are written in the texts: "3 4" is [3, 4]. It ranks by the sum of the vector."""

    fingerprint: str = "readable"
    encoded: list[str] = field(default_factory=list)

    def encode_responses(self, texts: list[str]) -> CandidateStates:
        self.encoded += texts
        vectors = np.array([[float(number) for number in text.split()] for text in texts], np.float32)
        return CandidateStates(vectors, vectors.astype(np.float16), np.arange(len(texts) + 1))

    def encode_queries(self, asked: list[Query]) -> SimpleNamespace:
        return SimpleNamespace(
            vectors=self.encode_responses([query.context[-1].text for query in asked]).vectors
        )

    def rank(self, encoded: object, candidates: CandidateStates, chosen: np.ndarray) -> np.ndarray:
        return np.array([candidates.padded(row)[0].sum((1, 2)) for row in chosen], np.float32)


def ask(text: str) -> Query:
    return Query((Turn(Role.SEEKER, text),))


@pytest.fixture
def index(tmp_path: Path) -> CandidateIndex:
    pool = [Candidate("1 0", ("a",)), Candidate("0 1"), Candidate("1 1", ("b", "c")), Candidate("-1 5")]
    return CandidateIndex.build(tmp_path / "index", pool, Readable())


# --- searching


def test_the_nearest_are_found_and_the_model_ranks_them(index: CandidateIndex):
    hits = index.search(ask("2 0"), k=2, first_stage=3)
    assert [(hit.text, hit.tags, hit.id) for hit in hits] == [("1 1", ("b", "c"), 2), ("1 0", ("a",), 0)]
    assert [(hit.score, hit.first_stage_score) for hit in hits] == [(2, 2), (1, 2)]
    # the fourth has the best score of all but is not among the three nearest
    assert index.search(ask("2 0"), k=1, first_stage=4)[0].text == "-1 5"


def test_more_replies_than_the_first_stage_widen_it(index: CandidateIndex):
    assert len(index.search(ask("2 0"), k=4, first_stage=1)) == 4
    assert len(index.search(ask("2 0"), k=99)) == 4


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("engine", ["torch", "onnx"])
def test_a_search_over_everything_ranks_as_the_model_scores(tmp_path: Path, kind: str, engine: str):
    name, options = MODELS[kind]
    model = tiny_selector(tmp_path / "run", name, **options)
    selector = model
    if engine == "onnx":
        export(model, tmp_path / "bundle", precision="float32")
        selector = OnnxSelector.from_bundle(tmp_path / "bundle")
    index = CandidateIndex.build(tmp_path / "index", RESPONSES, selector)
    scores = model.score(queries(), model.encode_responses(RESPONSES), np.tile(np.arange(6), (3, 1)))
    for query, expected in zip(queries(), scores, strict=True):
        hits = index.search(query, k=6)
        assert [hit.text for hit in hits] == [RESPONSES[at] for at in np.argsort(-expected)]
        tolerance = 3e-3 * max(1, np.abs(expected).max())  # states are kept in float16
        np.testing.assert_allclose([hit.score for hit in hits], np.sort(expected)[::-1], atol=tolerance)


def test_a_reopened_index_is_the_same_and_stays_on_disk(index: CandidateIndex):
    again = CandidateIndex(index.folder, Readable())
    assert len(again) == 4
    assert again.search(ask("2 0")) == index.search(ask("2 0"))
    assert isinstance(again.reader.states.vectors, np.memmap)
    assert isinstance(again.reader.states.states, np.memmap)
    assert again.reader.states.states.dtype == np.float16


def test_texts_come_back_letter_by_letter(tmp_path: Path):
    texts = ["Ça va? 🙂", 'two\nlines "quoted"', "a\ttab"]
    encoder = tiny_selector(tmp_path / "run", "bi_encoder")
    index = CandidateIndex.build(tmp_path / "index", texts, encoder)
    assert [candidate.text for candidate in index.reader.candidates()] == texts


# --- exact and approximate


def many(count: int, seed: int) -> list[str]:
    """Texts whose vectors lie in clusters on a circle of eight dimensions."""
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(40, 8))
    vectors = centres[generator.integers(40, size=count)] + 0.5 * generator.normal(size=(count, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [" ".join(f"{number:.6f}" for number in vector) for vector in vectors]


def test_approximate_search_finds_what_exact_search_finds(tmp_path: Path):
    index = CandidateIndex.build(tmp_path / "index", many(3000, seed=1), Readable(), graph=True)
    asked = Readable().encode_responses(many(50, seed=2)).vectors
    exact, exact_scores = index.nearest(asked, 100, exact=True)
    near, scores = index.nearest(asked, 100, exact=False)
    recall = np.mean([len(set(a) & set(b)) / 100 for a, b in zip(near, exact, strict=True)])
    assert recall >= 0.98
    assert (np.diff(exact_scores) <= 0).all()
    assert (np.diff(scores) <= 0).all()


def test_exact_search_equals_comparing_with_everything(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(nearest, "SCORES_AT_ONCE", 700)  # a few queries at a time
    generator = np.random.default_rng(0)
    vectors, asked = (generator.normal(size=(count, 8)).astype(np.float32) for count in (300, 7))
    vectors[40] = vectors[7]  # of equals, the first comes first
    positions, scores = nearest.exact(vectors, asked, 20)
    products = asked @ vectors.T
    np.testing.assert_array_equal(positions, np.argsort(-products, axis=1, kind="stable")[:, :20])
    np.testing.assert_allclose(scores, -np.sort(-products, axis=1)[:, :20], rtol=1e-6)


def test_what_a_graph_does_not_reach_is_no_hit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    index = CandidateIndex.build(tmp_path / "index", ["1 0", "0 1", "1 1"], Readable(), graph=True)
    reached = np.array([[2, 0, -1]]), np.array([[1.0, 1.0, -1e38]], np.float32)
    monkeypatch.setattr(nearest.Graph, "search", lambda self, vectors, count: reached)
    assert [hit.text for hit in index.search(ask("1 0"))] == ["1 1", "1 0"]


def test_a_graph_is_prepared_for_large_pools_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("allears.runtime.index.GRAPH_FROM", 10)
    assert not CandidateIndex.build(tmp_path / "small", many(9, seed=1), Readable()).card.graph
    assert CandidateIndex.build(tmp_path / "large", many(10, seed=1), Readable()).card.graph


def test_insisting_on_a_graph_that_is_not_there_is_refused(index: CandidateIndex):
    with pytest.raises(AllearsError, match=r"no graph for approximate search; build it with --graph"):
        index.search(ask("2 0"), exact=False)


def test_without_faiss_the_search_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    index = CandidateIndex.build(tmp_path / "index", many(200, seed=1), Readable(), graph=True)
    query = ask(many(1, seed=2)[0])
    expected = index.search(query, exact=True)
    monkeypatch.setattr(nearest, "find_spec", lambda name: None)
    index = CandidateIndex(tmp_path / "index", Readable())
    assert index.search(query) == expected
    with pytest.raises(AllearsError, match=r"needs FAISS: run pip install faiss-cpu, or search exactly"):
        index.search(query, exact=False)
    with pytest.raises(AllearsError, match=r"needs FAISS: .*without a graph \(--no-graph\)"):
        CandidateIndex.build(tmp_path / "other", many(200, seed=1), Readable(), graph=True)
    assert not CandidateIndex.build(tmp_path / "other", many(200, seed=1), Readable()).card.graph


# --- changing


def test_added_candidates_are_found_and_known_ones_are_not_encoded_again(index: CandidateIndex):
    selector = index.selector = Readable()
    assert index.add(["1 0", "9 9", Candidate("8 8", ("new",))]) == 2
    assert selector.encoded == ["9 9", "8 8"]
    assert [(hit.text, hit.id, hit.tags) for hit in index.search(ask("1 1"), k=2)] == [
        ("9 9", 4, ()),
        ("8 8", 5, ("new",)),
    ]
    assert len(CandidateIndex(index.folder)) == 6


def test_removed_candidates_are_gone_and_their_ids_are_not_given_again(index: CandidateIndex):
    assert index.remove([3, 0]) == 2
    assert [hit.id for hit in index.search(ask("2 0"))] == [2, 1]
    assert b"-1 5" not in (index.reader.data / "texts.jsonl").read_bytes()
    index.add(["7 7"])
    assert index.search(ask("7 7"), k=1)[0].id == 4
    assert index.search(ask("2 0"), k=9) == CandidateIndex(index.folder, Readable()).search(ask("2 0"), k=9)


def test_a_merge_takes_over_what_is_new_and_leaves_the_other_alone(index: CandidateIndex, tmp_path: Path):
    other = CandidateIndex.build(tmp_path / "other", [Candidate("1 0"), Candidate("6 6", ("x",))], Readable())
    assert index.merge(other) == 1
    assert (len(index), len(other)) == (5, 2)
    hit = index.search(ask("1 1"), k=1)[0]
    assert (hit.text, hit.tags, hit.id) == ("6 6", ("x",), 4)
    assert index.merge(other) == 0


@pytest.mark.parametrize("change", ["add", "remove", "merge"])
def test_a_changed_index_answers_as_one_built_anew(tmp_path: Path, change: str):
    first, second = many(600, seed=1), many(300, seed=2)
    index = CandidateIndex.build(tmp_path / "index", first, Readable(), graph=True)
    if change == "add":
        index.add(second)
    elif change == "merge":
        index.merge(CandidateIndex.build(tmp_path / "other", second, Readable(), graph=False))
    else:
        index.remove(range(100))
    texts = first[100:] if change == "remove" else first + second
    anew = CandidateIndex.build(tmp_path / "anew", texts, Readable(), graph=True)
    assert index.card.graph
    for text in many(20, seed=3):
        for exact in (True, False):
            found = [hit.text for hit in index.search(ask(text), k=5, exact=exact)]
            assert found == [hit.text for hit in anew.search(ask(text), k=5, exact=exact)]


def test_only_the_newest_state_stays_on_disk(index: CandidateIndex):
    index.add(["7 7"])
    index.remove([0])
    assert sorted(path.name for path in index.folder.iterdir()) == ["index.json", index.card.data]


def test_an_error_while_adding_changes_nothing(index: CandidateIndex):
    before = index.search(ask("2 0"))
    with pytest.raises(ValueError, match="could not convert"):
        index.add(["7 7", "no vector"])
    assert len(list(index.folder.iterdir())) == 2
    assert CandidateIndex(index.folder, Readable()).search(ask("2 0")) == before


def test_a_kill_while_adding_changes_nothing_and_the_next_change_cleans_up(index: CandidateIndex):
    code = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from test_candidate_index import CandidateIndex, IndexWriter, Readable
index = CandidateIndex({str(index.folder)!r}, Readable())
IndexWriter.commit = lambda *arguments, **options: os._exit(9)
index.add(["7 7"])
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert len(list(index.folder.iterdir())) == 3  # what the killed process left
    index = CandidateIndex(index.folder, Readable())
    assert len(index) == 4
    index.add(["7 7"])
    index.add(["8 8"])
    assert len(CandidateIndex(index.folder)) == 6
    assert len(list(index.folder.iterdir())) == 2


def test_two_changes_at_once_do_not_lose_one(index: CandidateIndex, monkeypatch: pytest.MonkeyPatch):
    other = CandidateIndex(index.folder, Readable())
    commit = IndexWriter.commit

    def late(writer: IndexWriter, **options: Any) -> None:
        monkeypatch.undo()
        other.add(["7 7"])
        commit(writer, **options)

    monkeypatch.setattr(IndexWriter, "commit", late)
    with pytest.raises(AllearsError, match="somebody else changed this index meanwhile"):
        index.add(["8 8"])
    assert [hit.text for hit in CandidateIndex(index.folder, Readable()).search(ask("1 1"), k=1)] == ["7 7"]


def test_building_replaces_an_index_that_was_there(index: CandidateIndex):
    CandidateIndex.build(index.folder, ["5 5"], Readable("another model"))
    assert len(CandidateIndex(index.folder, Readable("another model"))) == 1


# --- what can be wrong


def test_a_stale_index_is_refused_and_says_how_to_rebuild(index: CandidateIndex):
    with pytest.raises(AllearsError, match=r"this index is stale.*readable.*other.*allears index build POOL"):
        CandidateIndex(index.folder, Readable("other"))


def test_indexes_of_two_models_cannot_be_merged(index: CandidateIndex, tmp_path: Path):
    other = CandidateIndex.build(tmp_path / "other", ["5 5"], Readable("other"))
    with pytest.raises(AllearsError, match="only indexes of one model can merge"):
        index.merge(other)


def test_an_empty_pool_is_refused(tmp_path: Path):
    with pytest.raises(AllearsError, match="the pool is empty"):
        CandidateIndex.build(tmp_path / "index", [], Readable())
    assert not (tmp_path / "index").exists()


def test_removing_everything_is_refused(index: CandidateIndex):
    with pytest.raises(AllearsError, match="would leave the pool empty"):
        index.remove(range(4))
    assert len(CandidateIndex(index.folder)) == 4


def test_removing_what_is_not_there_is_refused(index: CandidateIndex):
    with pytest.raises(AllearsError, match="there is no candidate with the id 17"):
        index.remove([0, 17])


def test_searching_without_a_model_is_refused(index: CandidateIndex):
    with pytest.raises(AllearsError, match="open the index with its model"):
        CandidateIndex(index.folder).search(ask("1 1"))


@pytest.mark.parametrize(("k", "first_stage"), [(0, 10), (5, 0)])
def test_asking_for_nothing_is_refused(index: CandidateIndex, k: int, first_stage: int):
    with pytest.raises(AllearsError, match="at least 1"):
        index.search(ask("1 1"), k=k, first_stage=first_stage)


def test_a_model_without_a_vector_cannot_search(tmp_path: Path):
    selector = tiny_selector(tmp_path / "run", "poly_encoder", codes=2)
    with pytest.raises(AllearsError, match="a poly_encoder has no vector to search an index by"):
        CandidateIndex.build(tmp_path / "index", RESPONSES, selector)


def test_a_folder_that_is_no_index_is_refused(tmp_path: Path):
    with pytest.raises(AllearsError, match=r"no index.json here; make an index with `allears index build`"):
        CandidateIndex(tmp_path)
    (tmp_path / "novel.txt").write_text("chapter one")
    with pytest.raises(AllearsError, match="exists and is not an index"):
        CandidateIndex.build(tmp_path, ["5 5"], Readable())
    with pytest.raises(AllearsError, match="a file is here"):
        CandidateIndex.build(tmp_path / "novel.txt", ["5 5"], Readable())


@pytest.mark.parametrize(
    "name", ["vectors.npy", "states.npy", "offsets.npy", "ids.npy", "lines.npy", "texts.jsonl"]
)
@pytest.mark.parametrize("damage", ["missing", "cut short", "empty"])
def test_a_damaged_file_is_named(index: CandidateIndex, name: str, damage: str):
    path = index.reader.data / name
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes(content[:-4] if damage == "cut short" else b"")
    with pytest.raises(AllearsError, match=rf"{name}: missing or damaged; build the index again"):
        CandidateIndex(index.folder)


def test_a_damaged_graph_is_named(tmp_path: Path):
    index = CandidateIndex.build(tmp_path / "index", many(50, seed=1), Readable(), graph=True)
    (index.reader.data / "graph.faiss").write_bytes(b"no graph")
    with pytest.raises(AllearsError, match=r"graph.faiss: the graph cannot be read"):
        index.search(ask(many(1, seed=2)[0]))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not readable as JSON"),
        ('{"format": 7}', "format 7, but this version of allears reads format 1"),
        ('{"format": 1, "mood": "good"}', "not an index's card"),
    ],
)
def test_a_broken_card_is_one_sentence(index: CandidateIndex, content: str, problem: str):
    (index.folder / "index.json").write_text(content)
    with pytest.raises(AllearsError, match=problem):
        CandidateIndex(index.folder)
