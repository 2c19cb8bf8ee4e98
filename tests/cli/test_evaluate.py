"""Every `allears evaluate` command through `main`: what it prints, and its one sentence when it cannot."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from allears.models.selection import saved
from allears.models.selection.bi_encoder import BiEncoder
from allears.models.selection.cobert import CoBERT
from allears.nn.encoder import Encoder
from allears.text.layout import Limits
from allears.text.tokenizer import WordPiece
from command_line import Answer, Run

WORDS = ["my", "the", "oh", "no", "so", "sad", "how", "great", "tell", "me", "about", "it"]
THINGS = ["cat", "dog", "boat", "tree", "house", "lamp"]
ENDS = ["ran", "left", "broke", "won"]
HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags"


def write_ed(root: Path, split: str, conversations: int = 24) -> None:
    """Made-up conversations in the official layout: two turns each, two emotions."""
    rows = [HEADER]
    for number in range(conversations):
        thing, end = THINGS[number % 6], ENDS[number // 6 % 4]
        emotion = "sad" if number % 2 else "proud"
        rows.append(f"c:{number},1,{emotion},p,0,my {thing} {end},,")
        rows.append(f"c:{number},2,{emotion},p,1,oh no_comma_ the {thing} {end} so tell me about it,,")
    folder = root / "empatheticdialogues"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{split}.csv").write_text("\n".join(rows) + "\n")


def write_personas(path: Path, conversations: int = 24) -> None:
    with path.open("w") as file:
        for number in range(conversations):
            thing, end = THINGS[number % 6], ENDS[number // 6 % 4]
            record = {
                "id": str(number),
                "split": "valid",
                "turns": [
                    {"speaker": "seeker", "text": f"my {thing} {end}"},
                    {"speaker": "supporter", "text": f"so sad the {thing} {end}"},
                ],
                "personas": {"supporter": ["my cat ran", "my dog left", "my boat won"]},
            }
            file.write(json.dumps(record) + "\n")


def save_model(folder: Path, *, seed: int, name: str = "cobert") -> Path:
    torch.manual_seed(seed)
    vocabulary = {
        word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", ",", *WORDS, *THINGS, *ENDS])
    }
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    folder.mkdir(parents=True)
    backend.save(str(folder / "tokenizer.json"))
    encoder = Encoder.from_config(
        {
            "model_type": "bert",
            "vocab_size": len(vocabulary),
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 64,
            "max_position_embeddings": 512,
        }
    )
    kind, options = {"cobert": (CoBERT, {"pooled": True}), "bi_encoder": (BiEncoder, {})}[name]
    card = saved.ModelCard(name, options, Limits(persona_sentences=2), encoder=encoder.config)
    saved.save(folder, kind(encoder, **options), card, WordPiece(folder))
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora and two models, made once: `data/`, `cobert/`, `other/`."""
    place = tmp_path_factory.mktemp("evaluate")
    for split in ("train", "valid", "test"):
        write_ed(place / "data", split)
    write_personas(place / "personas.jsonl")
    save_model(place / "cobert", seed=1)
    save_model(place / "other", seed=2, name="bi_encoder")
    return place


# --- selection


def test_selection_prints_a_table_with_intervals(run: Run, place: Path):
    answer = run("evaluate", "selection", place / "cobert", "--root", place / "data", "--candidates", 10)
    assert answer.code == 0
    assert "ed valid, 10 candidates, seed 0" in answer.out
    for heading in ("R@1", "R@10", "R@50", "MRR", "cobert"):
        assert heading in answer.out
    assert "100.00" in answer.out  # R@50 of 10 candidates
    assert answer.out.count("–") == 2  # intervals of R@1 and MRR


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_json_is_one_object_with_flat_names(run: Run, place: Path, split: str):
    answer = run(
        "evaluate", "selection", place / "cobert", "--corpus", "ED", "--split", split,
        "--root", place / "data", "--candidates", 10, "--json",
    )  # fmt: skip
    record = answer.json
    names = {"recall_at_1", "recall_at_10", "recall_at_50", "mrr"}
    expected = {f"{name}{end}" for name in names for end in ("", "_low", "_high")}
    expected |= {"examples", "candidates", "seed", "corpus", "split", "model"}
    assert set(record) == expected
    assert record["recall_at_10"] == 100
    assert record["recall_at_1_low"] <= record["recall_at_1"] <= record["recall_at_1_high"]
    assert 10 <= record["mrr"] <= 100
    assert (record["examples"], record["candidates"], record["seed"]) == (24, 10, 0)
    assert (record["corpus"], record["split"], record["model"]) == ("ED", split, str(place / "cobert"))


def test_a_trained_run_is_found_by_its_run_folder(run: Run, place: Path, tmp_path: Path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "best").symlink_to(place / "cobert", target_is_directory=True)
    options = ("--root", place / "data", "--candidates", 10, "--json")
    direct = run("evaluate", "selection", place / "cobert", *options).json
    through = run("evaluate", "selection", tmp_path / "run", *options).json
    assert through["mrr"] == direct["mrr"]


def test_a_limit_takes_the_same_sample_every_time(run: Run, place: Path):
    options = ("evaluate", "selection", place / "cobert", "--root", place / "data", "--json")
    first, again = (run(*options, "--candidates", 24, "--limit", 7).json for _ in range(2))
    assert first == again
    assert first["examples"] == 7
    assert first["candidates"] == 24  # more than the sample: they come from the whole split
    other = run(*options, "--candidates", 24, "--limit", 7, "--seed", 3).json
    assert other["mrr"] != first["mrr"]


def test_against_adds_a_paired_comparison(run: Run, place: Path):
    options = (
        "evaluate", "selection", place / "cobert", "--against", place / "other",
        "--root", place / "data", "--candidates", 10,
    )  # fmt: skip
    record = run(*options, "--json").json
    assert record["difference"] == pytest.approx(record["recall_at_1"] - record["against_recall_at_1"])
    assert record["difference_low"] <= record["difference"] <= record["difference_high"]
    assert record["difference_mrr"] == pytest.approx(record["mrr"] - record["against_mrr"])
    assert 0 < record["p_value"] <= 1
    assert 0 < record["p_value_mrr"] <= 1
    text = run(*options).out
    assert "cobert minus other" in text
    assert "McNemar" in text


def test_a_model_against_itself_does_not_differ(run: Run, place: Path):
    record = run(
        "evaluate", "selection", place / "cobert", "--against", place / "cobert",
        "--root", place / "data", "--candidates", 10, "--json",
    ).json  # fmt: skip
    assert (record["difference"], record["difference_mrr"], record["p_value"]) == (0, 0, 1)


def test_the_other_side_may_have_less_persona(run: Run, place: Path):
    options = ("evaluate", "selection", place / "cobert", "--root", place / "data", "--candidates", 10)
    compared = run(*options, "--against", place / "cobert", "--against-persona", 0, "--json").json
    alone = run(*options, "--persona-sentences", 0, "--json").json
    assert compared["against_mrr"] == alone["mrr"]
    assert compared["against"].endswith(", persona 0")
    refused = run(*options, "--against-persona", 0)
    assert refused.code == 2
    assert "name that model with --against" in " ".join(refused.err.split())


def test_pools_add_retrieval_bleu_by_name_and_plain_for_the_first(run: Run, place: Path, tmp_path: Path):
    pool = tmp_path / "My pool.txt"
    pool.write_text("so sad\nhow great\n")
    options = (
        "evaluate", "selection", place / "cobert", "--root", place / "data", "--candidates", 10,
        "--limit", 6, "--pool", "ed", "--pool", pool,
    )  # fmt: skip
    record = run(*options, "--json").json
    assert record["avg_bleu"] == record["avg_bleu_ed"] > 50  # the pool's answers all look like the gold ones
    assert record["bleu_4"] == record["bleu_4_ed"]
    assert record["avg_bleu_my_pool"] < 20
    assert record["bleu_4_my_pool"] == 0
    text = run(*options).out
    assert "AVG BLEU" in text
    assert "my_pool" in text


def test_by_emotion_adds_a_row_per_emotion(run: Run, place: Path):
    options = ("evaluate", "selection", place / "cobert", "--root", place / "data", "--candidates", 10)
    text = run(*options, "--by-emotion").out
    assert "proud" in text
    assert "sad" in text
    record = run(*options, "--by-emotion", "--json").json
    assert {name: part["examples"] for name, part in record["by_emotion"].items()} == {"proud": 12, "sad": 12}


def test_plot_writes_a_picture(run: Run, place: Path, tmp_path: Path):
    picture = tmp_path / "picture.png"
    answer = run(
        "evaluate", "selection", place / "cobert", "--against", place / "other",
        "--root", place / "data", "--candidates", 10, "--plot", picture,
    )  # fmt: skip
    assert answer.code == 0
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_persona_sentences_change_the_scores_and_zero_switches_them_off(run: Run, place: Path):
    options = (
        "evaluate", "selection", place / "cobert", "--corpus", place / "personas.jsonl",
        "--candidates", 24, "--json",
    )  # fmt: skip
    without = run(*options, "--persona-sentences", 0).json
    with_them = run(*options, "--persona-sentences", 3).json
    assert (without["persona_sentences"], with_them["persona_sentences"]) == (0, 3)
    assert without["mrr"] != with_them["mrr"]


# --- transfer


def test_transfer_prints_a_matrix(run: Run, place: Path):
    options = (
        "evaluate", "transfer", place / "cobert", place / "other", "--corpus", "ed",
        "--corpus", place / "personas.jsonl", "--root", place / "data", "--candidates", 10,
    )  # fmt: skip
    text = run(*options).out
    assert "ed" in text
    assert "personas.jsonl" in text
    assert [line.split()[0] for line in text.splitlines() if "–" in line] == ["cobert", "other"]
    record = run(*options, "--json").json
    assert [(Path(cell["model"]).name, Path(cell["corpus"]).name) for cell in record["cells"]] == [
        ("cobert", "ed"),
        ("cobert", "personas.jsonl"),
        ("other", "ed"),
        ("other", "personas.jsonl"),
    ]
    assert all(0 <= cell["recall_at_1"] <= 100 for cell in record["cells"])


# --- persona


def test_persona_prints_a_row_for_each_count_beyond_the_models_own_limit(run: Run, place: Path):
    options = (
        "evaluate", "persona", place / "cobert", "--corpus", place / "personas.jsonl",
        "--counts", "0,1,2,3", "--candidates", 24,
    )  # fmt: skip
    rows = run(*options, "--json").json["rows"]
    assert [row["persona_sentences"] for row in rows] == [0, 1, 2, 3]
    # the model was saved to read 2 sentences; a third counts all the same
    assert len({row["mrr"] for row in rows}) == 4
    text = run(*options).out
    assert "persona sentences" in text
    assert "cobert on" in text


def test_a_corpus_without_personas_is_one_sentence(run: Run, place: Path):
    check(
        run("evaluate", "persona", place / "cobert", "--root", place / "data", "--candidates", 10),
        "the valid split of ed carries no personas",
    )


def test_counts_that_are_not_numbers_are_one_sentence(run: Run, place: Path):
    check(run("evaluate", "persona", place / "cobert", "--counts", "1,two"), "--counts takes whole numbers")


# --- errors


def check(answer: Answer, sentence: str) -> None:
    """Exit code 2, one sentence on standard error, nothing on standard output."""
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("error: ")
    assert sentence in answer.err
    assert len(answer.err.splitlines()) == 1
    assert "Traceback" not in answer.err


def test_an_unknown_model_is_one_sentence(run: Run, place: Path):
    check(run("evaluate", "selection", place / "nowhere", "--root", place / "data"), "nowhere: no such model")
    (place / "empty").mkdir(exist_ok=True)
    check(run("evaluate", "selection", place / "empty", "--root", place / "data"), "no model.json here")


def test_a_missing_corpus_or_split_is_one_sentence(run: Run, place: Path):
    model = place / "cobert"
    check(run("evaluate", "selection", model, "--corpus", "nothing"), "unknown corpus 'nothing'")
    check(run("evaluate", "selection", model, "--root", place / "away"), "no such file or folder")
    check(
        run("evaluate", "selection", model, "--root", place / "data", "--split", "holdout"),
        "none of the expected files is here",
    )


def test_candidates_above_the_pool_are_one_sentence(run: Run, place: Path):
    check(
        run("evaluate", "selection", place / "cobert", "--root", place / "data", "--candidates", 25),
        "25 candidates were asked for, but the split has only 24 responses",
    )


def test_an_empty_split_is_one_sentence(run: Run, place: Path, tmp_path: Path):
    write_ed(tmp_path, "valid", conversations=0)
    check(
        run("evaluate", "selection", place / "cobert", "--root", tmp_path),
        "valid split of ed has no examples",
    )
    (tmp_path / "empatheticdialogues" / "valid.csv").write_text("")
    check(run("evaluate", "selection", place / "cobert", "--root", tmp_path), "the file is empty")


def copied_model(place: Path, folder: Path) -> Path:
    folder.mkdir()
    for file in (place / "cobert").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def test_a_corrupt_checkpoint_is_one_sentence(run: Run, place: Path, tmp_path: Path):
    options = ("--root", place / "data")
    model = copied_model(place, tmp_path / "broken")
    weights = model / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    check(run("evaluate", "selection", model, *options), "the checkpoint is corrupt")
    weights.write_bytes(whole)
    (model / "model.json").write_text("{ not json")
    check(run("evaluate", "selection", model, *options), "not a model card")


def test_another_models_weights_are_one_sentence(run: Run, place: Path, tmp_path: Path):
    model = copied_model(place, tmp_path / "mixed")
    (model / "model.safetensors").write_bytes((place / "other" / "model.safetensors").read_bytes())
    check(run("evaluate", "selection", model, "--root", place / "data"), "the checkpoint is of another model")


def test_a_picture_that_cannot_be_written_is_said_before_the_long_part(run: Run, tmp_path: Path):
    # the model does not even exist: the picture is looked at first
    check(run("evaluate", "selection", "nowhere", "--plot", tmp_path / "picture.doc"), "a picture ends in")


def test_emotions_where_there_are_none_are_one_sentence(run: Run, place: Path):
    check(
        run("evaluate", "selection", place / "cobert", "--corpus", place / "personas.jsonl", "--by-emotion"),
        "carries no emotions",
    )


def test_two_pools_of_one_name_are_one_sentence(run: Run, place: Path, tmp_path: Path):
    for ending in ("txt", "text"):
        (tmp_path / f"pool.{ending}").write_text("so sad\n")
    pools = ("--pool", tmp_path / "pool.txt", "--pool", tmp_path / "pool.text")
    check(
        run("evaluate", "selection", place / "cobert", "--root", place / "data", *pools),
        "two pools are called 'pool'",
    )


def test_a_device_that_is_not_there_is_one_sentence(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    check(run("evaluate", "selection", place / "cobert", "--device", "cuda"), "torch sees no GPU here")
    check(run("evaluate", "selection", place / "cobert", "--device", "toaster"), "unknown device 'toaster'")


def test_a_run_without_torch_names_the_install(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    check(run("evaluate", "selection", place / "cobert"), 'pip install "allears[train]"')
