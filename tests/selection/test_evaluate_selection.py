"""Evaluation through a made-up selector: the numbers, the sample, the breakdown, the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from allears.conversation import Example, Persona, PersonaSentence, Role, Turn
from allears.corpora import CorpusError
from allears.corpora.split_examples import split_examples
from allears.errors import AllearsError
from allears.evaluation import retrieval
from allears.evaluation.retrieval import read_pool, retrieval_bleu
from allears.evaluation.selection import compare, evaluate_selection, query_for
from allears.metrics.bleu import avg_bleu, bleu
from allears.metrics.ranking import draw_candidates
from allears.runtime.selector import Indices, Query, Scores


@dataclass
class WordSets:
    """Encoded candidates of the word-overlap selector."""

    texts: list[str]

    def __len__(self) -> int:
        return len(self.texts)


class WordOverlap:
    """Scores a candidate by the words it shares with context and persona. Remembers what it was asked."""

    fingerprint = "overlap"

    def __init__(self) -> None:
        self.encoded: list[str] = []
        self.asked: list[Query] = []
        self.calls: list[tuple[int, ...]] = []

    def encode_responses(self, texts: Sequence[str]) -> WordSets:
        self.encoded = list(texts)
        return WordSets(list(texts))

    def score(self, queries: Sequence[Query], candidates: WordSets, chosen: Indices) -> Scores:
        self.asked += queries
        self.calls.append(chosen.shape)
        scores = np.zeros(chosen.shape, np.float32)
        for row, query in enumerate(queries):
            known = {
                word for text in (*(t.text for t in query.context), *query.persona) for word in text.split()
            }
            for column, index in enumerate(chosen[row]):
                scores[row, column] = len(known & set(candidates.texts[index].split()))
        return scores


class Constant(WordOverlap):
    def score(self, queries: Sequence[Query], candidates: WordSets, chosen: Indices) -> Scores:
        return np.zeros(chosen.shape, np.float32)


@dataclass
class Vectors(WordSets):
    vectors: np.ndarray


class OverlapWithVectors(WordOverlap):
    """The same, with bags of words as the vectors of a first stage."""

    vocabulary = tuple(f"w{number}" for number in range(300))

    def _bag(self, text: str) -> list[float]:
        present = set(text.split())
        return [float(word in present) for word in self.vocabulary]

    def encode_responses(self, texts: Sequence[str]) -> Vectors:
        return Vectors(list(texts), np.array([self._bag(text) for text in texts]))

    def query_vectors(self, queries: Sequence[Query]) -> np.ndarray:
        return np.array([self._bag(" ".join(turn.text for turn in query.context)) for query in queries])


def example(
    said: str, answer: str, *, emotion: str | None = None, persona: Sequence[str] = (), number: int = 0
) -> Example:
    return Example(
        context=(Turn(Role.SEEKER, said),),
        response=Turn(Role.SUPPORTER, answer),
        persona=Persona(tuple(PersonaSentence(text) for text in persona)),
        labels={} if emotion is None else {"emotion": emotion},
        conversation_id=str(number),
    )


def matching(count: int, emotion: str | None = None) -> list[Example]:
    """Every answer repeats one word of its own context and of no other."""
    return [example(f"my w{i} is lost", f"poor w{i}", emotion=emotion, number=i) for i in range(count)]


def test_a_model_that_finds_every_answer_gets_a_hundred():
    report = evaluate_selection(WordOverlap(), matching(30), candidates=20)
    assert (report.recall_at_1, report.recall_at_10, report.recall_at_50, report.mrr) == (100, 100, 100, 100)
    assert report.intervals["recall_at_1"].low == 100
    assert report.ranks.tolist() == [1] * 30


def test_a_model_that_scores_everything_alike_gets_nothing_at_1():
    report = evaluate_selection(Constant(), matching(30), candidates=20)
    assert (report.recall_at_1, report.recall_at_10, report.recall_at_50) == (0, 0, 100)
    assert report.mrr == pytest.approx(100 / 20)


def test_half_right_is_fifty_with_an_interval_around_it():
    right, wrong = matching(40), [example("nothing in common", f"different {i}") for i in range(40)]
    report = evaluate_selection(WordOverlap(), [*right, *wrong], candidates=80)
    assert report.recall_at_1 == 50
    interval = report.intervals["recall_at_1"]
    assert interval.low < 50 < interval.high
    flat = report.flat()
    assert flat["recall_at_1"] == 50
    assert flat["recall_at_1_low"] == interval.low
    assert flat["examples"] == 80
    assert flat["candidates"] == 80


def test_an_equal_text_elsewhere_in_the_split_counts_as_true():
    twins = [
        example("w1 and w2", "fine w1"),
        example("other", "fine  w1"),
        example("w1 and w2", "w1 w2 not true"),
    ]
    report = evaluate_selection(WordOverlap(), twins[:2], candidates=2)
    assert report.ranks.tolist() == [1, 1]
    assert evaluate_selection(WordOverlap(), twins, candidates=3).ranks.tolist() == [2, 2, 1]


def test_scores_come_back_in_the_order_of_the_examples_though_batches_are_sorted_by_length():
    examples = [
        example(f"w{i} " + "padding " * ((7 * i) % 11), f"poor w{i}" if i % 3 else "unrelated")
        for i in range(25)
    ]
    selector = WordOverlap()
    report = evaluate_selection(selector, examples, candidates=25, batch=4)
    assert [rank == 1 for rank in report.ranks] == [i % 3 != 0 for i in range(25)]
    lengths = [len(query.context[0].text) for query in selector.asked]
    assert lengths == sorted(lengths)
    assert max(rows for rows, _ in selector.calls) == 4


def test_only_candidates_are_encoded_and_equal_texts_once():
    examples = [example("a", f"text {i % 5}") for i in range(50)]
    selector = WordOverlap()
    evaluate_selection(selector, examples, candidates=3, limit=2)
    assert len(selector.encoded) == len(set(selector.encoded)) <= 5


def test_a_limit_is_a_seeded_sample_with_the_same_candidates_as_without():
    examples = [example(f"w{i} " + ("w3" if i % 2 else ""), f"poor w{i if i % 3 else 3}") for i in range(60)]
    everything = evaluate_selection(WordOverlap(), examples, candidates=10, seed=5)
    some = evaluate_selection(WordOverlap(), examples, candidates=10, seed=5, limit=20)
    again = evaluate_selection(WordOverlap(), examples, candidates=10, seed=5, limit=20)
    other = evaluate_selection(WordOverlap(), examples, candidates=10, seed=6, limit=20)
    assert len(some.ranks) == 20
    assert some.positions.tolist() == again.positions.tolist() == sorted(set(some.positions.tolist()))
    assert some.positions.tolist() != other.positions.tolist()
    assert some.ranks.tolist() == everything.ranks[some.positions].tolist()
    assert some.flat() == again.flat()


def test_candidates_come_from_the_whole_split_under_a_limit():
    report = evaluate_selection(WordOverlap(), matching(50), candidates=50, limit=3)
    assert report.candidates == 50
    with pytest.raises(AllearsError, match="only 50 responses"):
        evaluate_selection(WordOverlap(), matching(50), candidates=51, limit=3)


def test_each_emotion_is_reported_apart():
    examples = [*matching(10, emotion="proud"), *(example("x", f"no {i}", emotion="sad") for i in range(5))]
    report = evaluate_selection(WordOverlap(), examples, candidates=15)
    assert {name: len(part.ranks) for name, part in report.by_emotion.items()} == {"proud": 10, "sad": 5}
    assert report.by_emotion["proud"].recall_at_1 == 100
    assert report.by_emotion["sad"].recall_at_1 == 0


def test_examples_without_emotion_have_no_breakdown():
    assert evaluate_selection(WordOverlap(), matching(10), candidates=5).by_emotion == {}


def test_persona_can_be_bounded_and_switched_off():
    with_persona = [example("hello", f"poor w{i}", persona=["I like tea", f"my w{i}"]) for i in range(20)]
    assert evaluate_selection(WordOverlap(), with_persona, candidates=20).recall_at_1 == 100
    one_sentence = evaluate_selection(WordOverlap(), with_persona, candidates=20, persona_sentences=1)
    assert one_sentence.recall_at_1 == 0
    assert (
        evaluate_selection(WordOverlap(), with_persona, candidates=20, persona_sentences=0).recall_at_1 == 0
    )


def test_a_persona_sentence_that_the_answer_contains_is_not_shown():
    leaking = example("hi", "Well, I love  my dog!", persona=["I have a cat", "i love my dog"])
    assert query_for(leaking).persona == ("I have a cat",)
    assert query_for(leaking, 0).persona == ()


def test_large_candidate_sets_are_scored_in_smaller_batches(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("allears.evaluation.selection.PAIRS_AT_ONCE", 100)
    selector = WordOverlap()
    evaluate_selection(selector, matching(60), candidates=50, batch=32)
    assert {rows for rows, _ in selector.calls} == {2}


def test_an_empty_split_is_one_sentence():
    with pytest.raises(AllearsError, match="the split is empty"):
        evaluate_selection(WordOverlap(), [])


# --- two models


def test_two_models_are_compared_on_the_same_examples():
    examples = matching(40)
    comparison = compare(
        evaluate_selection(WordOverlap(), examples, candidates=10),
        evaluate_selection(Constant(), examples, candidates=10),
    )
    assert comparison.recall_at_1.value == 100
    assert comparison.mrr.value == pytest.approx(90)
    assert (comparison.recall_test.wins, comparison.recall_test.losses) == (40, 0)
    assert comparison.recall_test.p_value == pytest.approx(2 / 2**40)
    assert comparison.rank_test.wins == 40


def test_reports_about_different_candidates_are_not_compared():
    first = evaluate_selection(WordOverlap(), matching(20), candidates=10)
    second = evaluate_selection(WordOverlap(), matching(20), candidates=10, seed=1)
    with pytest.raises(ValueError, match="same examples and candidates"):
        compare(first, second)


# --- retrieval


def test_the_best_of_the_pool_is_compared_with_the_gold_response():
    examples = [example("my w1 and w2 broke", "so sorry about your w1"), example("w9 died", "how sad")]
    pool = ["about your w1 and w2", "nothing", "w9 , how awful", "", "nothing"]
    report = retrieval_bleu(WordOverlap(), examples, pool)
    assert report.responses == ("about your w1 and w2", "w9 , how awful")
    assert report.pool == 3  # the empty one and the second "nothing" do not count
    gold = [item.response.text for item in examples]
    assert report.avg_bleu == pytest.approx(avg_bleu(report.responses, gold))
    assert report.bleu_4 == pytest.approx(bleu(report.responses, gold, 4))


def test_every_candidate_is_scored_in_chunks_and_the_first_of_equals_wins(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(retrieval, "PAIRS_AT_ONCE", 6)
    selector = WordOverlap()
    pool = [f"w{number} filler" for number in range(23)] + ["w5 again"]
    report = retrieval_bleu(selector, [example(f"my w{i}", "x") for i in (5, 22, 99)], pool, batch=3)
    assert report.responses == ("w5 filler", "w22 filler", "w0 filler")
    assert sum(columns for _, columns in selector.calls) == 24
    assert max(rows * columns for rows, columns in selector.calls) <= 6


def test_with_vectors_only_the_best_hundred_are_scored_again():
    selector = OverlapWithVectors()
    pool = [f"w{number} filler" for number in range(250)]
    report = retrieval_bleu(selector, [example(f"my w{i} my", "x") for i in (3, 249)], pool)
    assert report.responses == ("w3 filler", "w249 filler")
    assert selector.calls == [(2, retrieval.RERANKED)]


def test_the_first_stage_finds_what_scoring_everything_finds():
    random = np.random.default_rng(0)
    words = OverlapWithVectors.vocabulary
    pool = [" ".join(random.choice(words, 6, replace=False)) for _ in range(400)]
    examples = [example(" ".join(random.choice(words, 12, replace=False)), "x") for _ in range(20)]
    two_stages = retrieval_bleu(OverlapWithVectors(), examples, pool).responses
    assert two_stages == retrieval_bleu(WordOverlap(), examples, pool).responses


def test_an_empty_pool_is_one_sentence():
    with pytest.raises(AllearsError, match="the candidate pool is empty"):
        retrieval_bleu(WordOverlap(), matching(2), ["", "  "])


# --- reading


HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags"


def ed_rows(conversation: int, *turns: str) -> list[str]:
    return [
        f"c:{conversation},{number + 1},proud,prompt,{number % 2},{text},,"
        for number, text in enumerate(turns)
    ]


def write_ed(root: Path, split: str, *rows: str) -> None:
    folder = root / "empatheticdialogues"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{split}.csv").write_text("\n".join([HEADER, *rows]) + "\n")


def test_examples_are_cut_by_the_papers_rule_unless_told_otherwise(tmp_path: Path):
    write_ed(tmp_path, "test", *ed_rows(1, "a", "b", "c", "d", "e", "f"))
    by_paper = split_examples("ED", "test", tmp_path)
    assert [item.response.text for item in by_paper] == ["b", "d", "f"]
    assert [turn.text for turn in by_paper[-1].context] == ["b", "c", "d", "e"]
    short = split_examples("ed", "test", tmp_path, context_turns=1)
    assert [turn.text for turn in short[-1].context] == ["e"]


def test_a_split_in_which_nobody_answers_is_one_sentence(tmp_path: Path):
    write_ed(tmp_path, "valid", *ed_rows(1, "alone"))
    with pytest.raises(AllearsError, match=r"the valid split of ed has no examples"):
        split_examples("ed", "valid", tmp_path)


def test_a_pool_is_a_corpus_or_the_lines_of_a_file(tmp_path: Path):
    write_ed(tmp_path, "train", *ed_rows(1, "a", "b", "c", "d"))
    assert read_pool("ed", tmp_path) == ["b", "d"]
    file = tmp_path / "pool.txt"
    file.write_text("one answer\nanother answer\n")
    assert read_pool(str(file)) == ["one answer", "another answer"]


def test_a_pool_that_is_not_text_is_one_sentence(tmp_path: Path):
    file = tmp_path / "pool.txt"
    file.write_bytes(b"fine\n\xff\xfe\n")
    with pytest.raises(CorpusError, match=r"pool\.txt, line 2: not valid UTF-8"):
        read_pool(str(file))
    with pytest.raises(CorpusError, match="unknown corpus 'nowhere'"):
        read_pool("nowhere")


def test_the_drawn_candidates_are_those_of_the_metric():
    seen: list[Indices] = []

    class Spy(WordOverlap):
        def score(self, queries: Sequence[Query], candidates: WordSets, chosen: Indices) -> Scores:
            seen.append(np.array([[int(candidates.texts[i][6:]) for i in row] for row in chosen]))
            return super().score(queries, candidates, chosen)

    examples = matching(12)
    evaluate_selection(Spy(), examples, candidates=5, seed=9)
    drawn = draw_candidates([item.response.text for item in examples], 5, 9)
    assert sorted(np.concatenate(seen).tolist()) == sorted(drawn.tolist())
