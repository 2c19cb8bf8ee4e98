"""The kinds of measurements: each asks one of the house's own evaluations, and keeps its flat numbers.

No metric is computed here that the house does not compute elsewhere. `command` is what a person would type.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.experiments.contract import Measurement, Run
from allears.experiments.fingerprints import SHARED

if TYPE_CHECKING:
    from allears.experiments.lab import Lab

Measures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    work: Callable[[Lab, Measurement], Measures]
    rooms: tuple[str, ...]
    command: Callable[[Lab, Measurement], str]
    timed: bool = False  # the numbers are the machine's as well


def _model(lab: Lab, model: Run | str) -> str:
    return str(lab.place_of(model)) if isinstance(model, Run) else model


def _device(lab: Lab, model: Run | str) -> str:
    """A bundle runs on the CPU wherever we are."""
    return lab.setting.device if isinstance(model, Run) else "cpu"


def _typed(verb: str) -> Callable[[Lab, Measurement], str]:
    """The command as a person types it, with the run's plain name."""

    def command(lab: Lab, asked: Measurement) -> str:
        words = ["allears", *verb.split()]
        if head := asked.option("head"):
            words.append(head)
        if asked.of:
            words.append(f"runs/{asked.of.name}" if isinstance(asked.of, Run) else asked.of)
        if asked.against:
            other = f"runs/{asked.against.name}" if isinstance(asked.against, Run) else asked.against
            words += ["--against", other]
        for name, value in asked.settings:
            if value is None or name in ("head", "counts", "whole", "persona_similarity"):
                continue
            for each in value if isinstance(value, tuple) else (value,):
                words += [f"--{'pool' if name == 'pools' else name.replace('_', '-')}", str(each)]
        if lab.setting.limit:
            words += ["--limit", str(lab.setting.limit)]
        return shlex.join(words)

    return command


# --- selection ------------------------------------------------------------------------------------------


def _selection(lab: Lab, asked: Measurement) -> Measures:
    from allears.selection.evaluate import compare, evaluate_selection, split_examples
    from allears.selection.loading import load_selector

    examples = split_examples(
        lab.corpora.place(asked.option("corpus")), asked.option("split", "valid"), lab.corpora.root
    )
    sides = [(asked.of, asked.option("persona_sentences"))]
    if asked.against:
        sides.append((asked.against, asked.option("against_persona", asked.option("persona_sentences"))))
    reports = [
        evaluate_selection(
            load_selector(_model(lab, model), _device(lab, model), persona_sentences=sentences),
            examples,
            asked.option("candidates", lab.setting.candidates),
            persona_sentences=sentences,
            limit=lab.setting.limit,
        )
        for model, sentences in sides
    ]
    found: Measures = dict(reports[0].flat())
    if asked.against:
        comparison = compare(reports[0], reports[1])
        for name, difference in (("recall_at_1", comparison.recall_at_1), ("mrr", comparison.mrr)):
            found |= {
                f"difference_{name}": difference.value,
                f"difference_{name}_low": difference.low,
                f"difference_{name}_high": difference.high,
            }
        found["p_value"] = comparison.recall_test.p_value
    return found


def _retrieval(lab: Lab, asked: Measurement) -> Measures:
    """The best of several pools together, against what people said."""
    from random import Random

    from allears.metrics.bleu import sacrebleu_metrics
    from allears.selection.evaluate import split_examples
    from allears.selection.loading import load_selector
    from allears.selection.retrieval import read_pool, retrieval_bleu

    sacrebleu_metrics()
    corpus, split = lab.corpora.place(asked.option("corpus")), asked.option("split", "valid")
    examples = split_examples(corpus, split, lab.corpora.root)
    limit = asked.option("limit") or lab.setting.limit
    if limit and limit < len(examples):
        examples = [examples[place] for place in sorted(Random(0).sample(range(len(examples)), limit))]
    pool: list[str] = []
    for name in asked.option("pools"):
        pool += read_pool(lab.corpora.place(name), lab.corpora.root)
    report = retrieval_bleu(
        load_selector(_model(lab, asked.of), _device(lab, asked.of)), examples, pool, persona_sentences=0
    )
    return {
        "avg_bleu": report.avg_bleu, "bleu_4": report.bleu_4, "pool": report.pool, "examples": len(examples)
    }  # fmt: skip


def _cost(lab: Lab, asked: Measurement) -> Measures:
    """Time and memory of scoring 100 candidates, relative to the Bi-encoder: the repository's own benchmark."""
    script = lab.setting.repository / "benchmarks" / "selection.py"
    if not script.is_file():
        raise AllearsError(
            f"{script}: costs are measured by the benchmark of the source tree, which is not here"
        )
    words = [
        sys.executable,
        str(script),
        "--json",
        "--device",
        lab.setting.device,
        "--models",
        *asked.option("models"),
    ]
    if lab.setting.small:
        words += ["--small", "--contexts", "2", "--repeats", "1", "--candidates", "10"]
    elif lab.setting.encoder:
        words += ["--encoder", lab.setting.encoder]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AllearsError(f"{script} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    models = json.loads(done.stdout)["models"]
    return {
        f"{measure} {name}": value
        for name, row in models.items()
        for measure, value in row.items()
        if measure in ("time_ratio", "memory_ratio")
    }


def _cost_command(lab: Lab, asked: Measurement) -> str:
    return shlex.join(["python", "benchmarks/selection.py", "--models", *asked.option("models")])


def _persona_cost(lab: Lab, asked: Measurement) -> Measures:
    """Seconds and memory of a context with more and more persona sentences."""
    from allears.selection.evaluate import query_for
    from allears.selection.loading import load_selector

    counts = asked.option("counts")
    examples = _timed_examples(lab, asked)
    selector = load_selector(_model(lab, asked.of), _device(lab, asked.of), persona_sentences=max(counts))
    sides = {count: (selector, [query_for(each, count) for each in examples]) for count in counts}
    return _costs(lab, {str(count): side for count, side in sides.items()}, examples)


def _run_cost(lab: Lab, asked: Measurement) -> Measures:
    """Time and memory of a run, relative to another run's, on the same contexts and candidates."""
    from allears.selection.evaluate import query_for
    from allears.selection.loading import load_selector

    examples = _timed_examples(lab, asked)
    queries = [query_for(each) for each in examples]
    sides = {
        name: (load_selector(_model(lab, model), _device(lab, model)), queries)
        for name, model in (("ours", asked.of), ("theirs", asked.against))
    }
    found = _costs(lab, sides, examples)
    ratios = {"time_ratio": found["seconds_ours"] / found["seconds_theirs"]}
    if "memory_ours" in found:
        ratios["memory_ratio"] = found["memory_ours"] / found["memory_theirs"]
    return ratios


def _timed_examples(lab: Lab, asked: Measurement) -> list[Any]:
    from allears.selection.evaluate import split_examples

    examples = split_examples(lab.corpora.place(asked.option("corpus")), "valid", lab.corpora.root)
    return examples[: 8 if lab.setting.small else 100]


def _costs(lab: Lab, sides: dict[str, tuple[Any, list[Any]]], examples: list[Any]) -> Measures:
    """Seconds a context, side by side in turns, the best of three rounds; on a GPU also the peak of torch's memory."""
    import time

    texts = [example.response.text for example in examples]
    encoded = {name: selector.encode_responses(texts) for name, (selector, _) in sides.items()}
    rows = _array([list(range(len(texts)))])
    best = dict.fromkeys(sides, float("inf"))
    memory: dict[str, int] = {}
    for _ in range(3):
        for name, (selector, queries) in sides.items():
            if lab.setting.device == "cuda":
                import torch

                torch.cuda.reset_peak_memory_stats()
            begun = time.perf_counter()
            for query in queries:
                selector.score([query], encoded[name], rows)  # ends on the CPU: nothing is left to wait for
            best[name] = min(best[name], (time.perf_counter() - begun) / len(queries))
            if lab.setting.device == "cuda":
                memory[name] = torch.cuda.max_memory_allocated()
    return {f"seconds_{name}": seconds for name, seconds in best.items()} | {
        f"memory_{name}": peak for name, peak in memory.items()
    }


def _array(rows: Sequence[Sequence[int]]) -> Any:
    import numpy as np

    return np.array(rows, np.int64)


def _choice(lab: Lab, asked: Measurement) -> Measures:
    """Which reply of our own pool a model chooses for a context of ours, given a persona sentence."""
    from random import Random

    from allears.listener.pool import shipped_pool
    from allears.selection.loading import load_selector
    from allears.selection.selector import Query

    selector = load_selector(_model(lab, asked.of), _device(lab, asked.of))
    pool = [line.text for line in shipped_pool()]
    texts = Random(0).sample(pool, min(len(pool), 60 if lab.setting.small else 1000))  # the paper's 1K
    encoded = selector.encode_responses(texts)
    context = (Turn(Role.SEEKER, asked.option("context")),)
    found = {}
    for sentence in asked.option("personas"):
        scores = selector.score([Query(context, (sentence,))], encoded, _array([list(range(len(texts)))]))
        found[sentence] = texts[int(scores[0].argmax())]
    return found


# --- generation -----------------------------------------------------------------------------------------


def _generation(lab: Lab, asked: Measurement) -> Measures:
    from random import Random

    from allears.generation.decoding import PAL_ALPHAS, decoding
    from allears.generation.evaluate import evaluate_generation, reply_spread
    from allears.generation.examples import read_examples
    from allears.generation.loading import load_generator
    from allears.metrics.bleu import sacrebleu_metrics
    from allears.selection.loading import default_bundle
    from allears.understanding.sentence_encoder import load_sentence_encoder
    from allears.understanding.sentiment import VaderSentiment

    sacrebleu_metrics()
    place, split = lab.corpora.place(asked.option("corpus")), asked.option("split", "valid")
    examples = [each for each in read_examples(place, split, lab.corpora.root) if each.answers]
    if not examples:
        raise AllearsError(f"in the {split} split of {asked.option('corpus')} nobody answers another person")
    limit = lab.setting.limit
    if limit and limit < len(examples):
        examples = [examples[place] for place in sorted(Random(0).sample(range(len(examples)), limit))]
    alpha = asked.option("alpha")
    generator = load_generator(_model(lab, asked.of), _device(lab, asked.of))
    settings = decoding(asked.option("decoding", "sample"))
    report = evaluate_generation(
        generator,
        examples,
        settings=settings,
        alphas=None if alpha is None else PAL_ALPHAS.all(float(alpha)),
        embed=load_sentence_encoder(default_bundle()).vectors if asked.option("persona_similarity") else None,
        sentiment=VaderSentiment().compound,
    )
    found: Measures = dict(report.measures)
    found |= _top_strategies(generator, examples)
    if seeds := asked.option("seeds"):
        found |= reply_spread(generator, examples, settings=settings, seeds=range(seeds))
    return found


def _top_strategies(generator: Any, examples: Sequence[Any]) -> Measures:
    """PAL's Figure 4, of a generator that chooses strategies, where the corpus has them."""
    from dataclasses import replace

    from allears.generation.contract import STRATEGIES, ChoosesStrategy
    from allears.metrics.strategies import strategy_top_n

    gold = [example.prompt.strategy or "" for example in examples]
    if not all(gold) or not isinstance(generator, ChoosesStrategy):
        return {}
    ranked = generator.strategies([replace(example.prompt, strategy=None) for example in examples])
    names = [[name for name, _ in each] for each in ranked]
    return {f"strategy_top_{n}": strategy_top_n(names, gold, n) for n in range(1, len(STRATEGIES) + 1)}


def _replies(lab: Lab, asked: Measurement) -> Measures:
    """What a generator writes for contexts of our own."""
    from allears.generation.contract import Prompt
    from allears.generation.decoding import decoding
    from allears.generation.loading import load_generator

    generator = load_generator(_model(lab, asked.of), _device(lab, asked.of))
    prompts = [Prompt((Turn(Role.SEEKER, text),)) for text in asked.option("contexts")]
    written = generator.generate(
        prompts, decoding(asked.option("decoding", "beam-5")), list(range(len(prompts)))
    )
    return {
        text: each[0].text or "(nothing)"
        for text, each in zip(asked.option("contexts"), written, strict=True)
    }


def _size(lab: Lab, asked: Measurement) -> Measures:
    """A run's parameters, and how long it took to train."""
    from safetensors import safe_open

    from allears.nn.runs import best

    if not isinstance(asked.of, Run):
        raise AllearsError("only a run of our own has a size and a time to train")
    count = 0
    with safe_open(best(lab.place_of(asked.of)) / "model.safetensors", framework="numpy") as file:
        for name in file.keys():  # noqa: SIM118 (not a dictionary)
            size = 1
            for length in file.get_slice(name).get_shape():
                size *= length
            count += size
    return {"parameters": count, "minutes": lab.run_done(asked.of).seconds / 60}


def _size_command(lab: Lab, asked: Measurement) -> str:
    return lab.train_command(asked.of) if isinstance(asked.of, Run) else ""


# --- understanding --------------------------------------------------------------------------------------


def _understanding(lab: Lab, asked: Measurement) -> Measures:
    from allears.understanding.evaluate import evaluate_understanding
    from allears.understanding.heads import head
    from allears.understanding.loading import load_reading_model

    chosen = head(asked.option("head"))
    place = lab.corpora.place(chosen.corpus)
    model = load_reading_model(
        _model(lab, asked.of), chosen, lab.corpora.root, corpus=place, device=_device(lab, asked.of)
    )
    readings = chosen.read(asked.option("split", "valid"), lab.corpora.root, corpus=place)
    return dict(
        evaluate_understanding(
            model, chosen, readings, past=asked.option("past", "gold"), limit=lab.setting.limit
        ).flat()
    )


def _strategy_curve(lab: Lab, asked: Measurement) -> Measures:
    from allears.understanding.analyses.strategy_curve import FREQUENCY, FrequencyModel, top_n_curve
    from allears.understanding.evaluate import evaluate_understanding
    from allears.understanding.heads import head
    from allears.understanding.loading import load_reading_model

    chosen = head("strategy")
    root, place = lab.corpora.root, lab.corpora.place("esconv")
    name = _model(lab, asked.of)
    model: Any = (
        FrequencyModel(chosen, chosen.read("train", root, corpus=place))
        if name == FREQUENCY
        else load_reading_model(name, chosen, root, corpus=place, device=_device(lab, asked.of))
    )
    readings = chosen.read("valid", root, corpus=place)
    report = evaluate_understanding(model, chosen, readings, limit=lab.setting.limit)
    return {f"top_{n}": value for n, value in enumerate(top_n_curve(report), 1)}


def _emotion_map(lab: Lab, asked: Measurement) -> Measures:
    from allears.generation.emotion_vectors import emotion_vectors
    from allears.generation.loading import load_generator
    from allears.understanding.analyses.emotion_map import emotion_map
    from allears.understanding.labels import ED_EMOTIONS

    found = emotion_map(emotion_vectors(load_generator(_model(lab, asked.of), _device(lab, asked.of))))
    measures: Measures = {
        "explained": found.explained,
        "neighbours": found.neighbours,
        "neighbours_in_plane": found.neighbours_in_plane,
    }
    for emotion, (first, second) in zip(ED_EMOTIONS, found.points, strict=True):
        measures |= {f"{emotion} first": float(first), f"{emotion} second": float(second)}
    return measures


def _persona_empathy(lab: Lab, asked: Measurement) -> Measures:
    from allears.selection.loading import default_bundle
    from allears.understanding.analyses.persona_empathy import relations
    from allears.understanding.sentence_encoder import load_sentence_encoder

    encoder = asked.option("encoder")
    if encoder == "vectors":
        encoder = _vectors(lab)
    talks = list(lab.corpora.read(asked.option("corpus"), asked.option("split", "valid")))
    found = relations(
        talks,
        load_sentence_encoder(default_bundle() if encoder == "default" else encoder, lab.setting.device),
    )
    measures: Measures = {}
    for aspect, relation in found.items():
        measures |= relation.flat()
        measures |= {f"{aspect} at {score:g}": mean for score, (mean, _, _) in relation.means.items()}
    return measures


def _vectors(lab: Lab) -> str:
    """Word vectors in the GloVe layout: those named, or the recipes' file among the corpora."""
    name = lab.setting.vectors or "glove.100d.40k.txt.gz"
    for path in (Path(name), lab.corpora.root / name):
        if path.is_file():
            return str(path)
    raise AllearsError(f"{name} is not under {lab.corpora.root}; name a file of word vectors with --vectors")


# --- corpora and people ---------------------------------------------------------------------------------


def _statistics(lab: Lab, asked: Measurement) -> Measures:
    from allears.corpora.statistics import measure, pec_table_1

    split = asked.option("split", "valid")
    read = lab.corpora.read_whole if asked.option("whole") else lab.corpora.read
    found = measure(read(asked.option("corpus"), split))
    if not found.conversations:
        raise AllearsError(f"the {split} split of {asked.option('corpus')} has no conversations")
    measures: Measures = {name: float(value.replace(",", "")) for name, value in pec_table_1(found)}
    for emotion, count in found.emotions.items():
        measures[f"share {emotion}"] = 100 * count / found.conversations
        for role in Role:
            measures[f"{role.value} words {emotion}"] = ", ".join(found.top_words(emotion, role, 3))
    return measures


def _speaker_similarity(lab: Lab, asked: Measurement) -> Measures:
    from allears.corpora.speaker_similarity import speaker_similarity

    # of the whole corpus also in the small setting: few conversations have nobody who answers often
    split = asked.option("split", "train")
    rows = speaker_similarity(talk for talk in lab.corpora.whole_reddit() if talk.split == split)
    measures: Measures = {
        "groups": len(rows),
        "people_less_alike": sum(row.people < row.random for row in rows),
    }
    for row in rows:
        measures |= {f"people {row.emotion}": row.people, f"random {row.emotion}": row.random}
    return measures


def _study(lab: Lab, asked: Measurement) -> Measures:
    """Means by group of people's majority votes, from what `allears study export` wrote."""
    folder = lab.setting.study
    if folder is None:
        raise AllearsError(
            "no people were asked: give --study FOLDER, what `allears study export` writes of a study begun with "
            "`allears study new empathy-annotation`"
        )
    path = folder / "answers.jsonl"
    if not path.is_file():
        raise AllearsError(f"{path}: no such file; `allears study export STUDY --out {folder}` writes it")
    from allears.study.analysis.agreement import fleiss_kappa
    from allears.study.analysis.means import mean_with_sem
    from allears.study.assignment import majority

    values = asked.option("values")
    answers = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    measures: Measures = {}
    for question, numbers in dict(values).items():
        known = dict(numbers)
        votes: dict[str, list[str]] = {}
        groups: dict[str, str] = {}
        for row in answers:
            if row["question"] == question and row.get("state", "counted") == "counted":
                votes.setdefault(row["unit"], []).append(str(row["value"]))
                groups[row["unit"]] = row["group"]
        by_group: dict[str, list[float]] = {}
        for unit, chosen in votes.items():
            agreed = majority(iter(chosen))
            worth = [known[each] for each in chosen]
            by_group.setdefault(groups[unit], []).append(
                known[agreed] if agreed is not None else sum(worth) / len(worth)
            )
        for group, worths in by_group.items():
            mean = mean_with_sem(worths)
            measures[f"{question} {group}"] = mean.value
            if len(worths) > 1:
                measures |= {
                    f"{question} {group}_low": mean.value - 1.96 * mean.sem,
                    f"{question} {group}_high": mean.value + 1.96 * mean.sem,
                }
        full = max((len(each) for each in votes.values()), default=0)
        if full > 1:
            measures[f"{question} kappa"] = fleiss_kappa(
                [each for each in votes.values() if len(each) == full]
            )
    return measures


def _study_command(lab: Lab, asked: Measurement) -> str:
    return "allears study export STUDY --out FOLDER"


KINDS: dict[str, Kind] = {
    "selection": Kind(_selection, (*SHARED, "selection"), _typed("evaluate selection")),
    "retrieval": Kind(_retrieval, (*SHARED, "selection"), _typed("evaluate selection")),
    "cost": Kind(_cost, (*SHARED, "selection"), _cost_command, timed=True),
    "persona-cost": Kind(_persona_cost, (*SHARED, "selection"), _typed("evaluate persona"), timed=True),
    "run-cost": Kind(_run_cost, (*SHARED, "selection"), _typed("evaluate selection"), timed=True),
    "choice": Kind(_choice, (*SHARED, "selection"), _typed("evaluate selection")),
    "generation": Kind(_generation, (*SHARED, "generation"), _typed("evaluate generation")),
    "replies": Kind(_replies, (*SHARED, "generation"), _typed("evaluate generation")),
    "size": Kind(_size, SHARED, _size_command, timed=True),
    "understanding": Kind(_understanding, (*SHARED, "understanding"), _typed("evaluate understanding")),
    "strategy-curve": Kind(_strategy_curve, (*SHARED, "understanding"), _typed("analyse strategy-curve")),
    "emotion-map": Kind(_emotion_map, (*SHARED, "generation"), _typed("analyse emotion-map")),
    "persona-empathy": Kind(_persona_empathy, (*SHARED, "understanding"), _typed("analyse persona-empathy")),
    "statistics": Kind(_statistics, ("corpora/statistics.py",), _typed("data stats")),
    "speaker-similarity": Kind(
        _speaker_similarity, ("corpora/speaker_similarity.py",), _typed("reddit speaker-similarity")
    ),
    "study": Kind(_study, ("study/analysis",), _study_command),
}
