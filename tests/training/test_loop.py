"""The loop: it learns, it stops early, it resumes to the same weights, it shares work among processes."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
import torch
from safetensors.torch import load_file

from allears.errors import AllearsError
from allears.training.average import Average
from allears.training.loop import SaveTimes, learning_rate, parameter_groups, train
from allears.training.recipe import TrainingOptions
from allears.training.tasks import make_task
from resuming import failing_after


def run(recipe, folder, **options):
    return train(make_task(recipe, folder), recipe, folder, **options)


def weights(folder):
    return load_file(folder / "checkpoint" / "model.safetensors")


def test_training_learns_and_leaves_everything_behind(recipe, tmp_path):
    wanted = recipe("training.epochs=8", "training.learning_rate=3e-3")
    metrics = run(wanted, tmp_path / "run")
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    losses = [entry["loss"] for entry in log if "loss" in entry]
    assert losses[-1] < losses[0] - 0.3
    assert metrics["recall_at_1"] > 20  # chance is 10
    assert json.loads((tmp_path / "run" / "metrics.json").read_text()) == metrics
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["recipe"]["training"]["epochs"] == 8
    assert record["versions"]["torch"] == torch.__version__
    assert len(record["data"]) == 16
    assert record["commit"]
    assert (tmp_path / "run" / "best" / "model.safetensors").is_file()


def test_the_same_seed_gives_the_same_weights_and_another_seed_does_not(recipe, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(recipe("training.epochs=1", f"training.seed={seed}"), tmp_path / name)
    first, second, other = (weights(tmp_path / name) for name in "abc")
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert not all(torch.equal(first[key], other[key]) for key in first)


def test_a_checkpoint_is_due_every_so_many_steps_and_when_the_last_is_old(monkeypatch):
    now = 0.0
    monkeypatch.setattr("allears.training.loop.time.monotonic", lambda: now)
    due, never = SaveTimes(100, 5), SaveTimes(100, 0)
    saved = []
    for step in range(1, 101):
        now += 10
        if due(step):
            saved.append(step)
        assert never(step) == (step == 100)
    assert saved == [30, 60, 90, 100]


def test_a_run_killed_before_its_first_evaluation_can_go_on(recipe, tmp_path):
    wanted = recipe("training.evaluate_every=1000", "training.save_minutes=1e-9")
    task = make_task(wanted, tmp_path)
    task.step = failing_after(task.step, 5)
    with pytest.raises(KeyboardInterrupt):
        train(task, wanted, tmp_path)
    assert json.loads((tmp_path / "checkpoint" / "progress.json").read_text())["step"] == 5


def test_a_run_stopped_at_any_step_resumes_to_identical_weights(recipe, tmp_path):
    wanted = recipe("training.save_every=1")
    run(wanted, tmp_path / "whole")
    for stop in (1, 7, 11):  # at the start, within and between epochs
        folder = tmp_path / f"stopped-{stop}"
        task = make_task(wanted, folder)
        task.step = failing_after(task.step, stop)
        with pytest.raises(KeyboardInterrupt):
            train(task, wanted, folder)
        run(wanted, folder, resume=True)
        whole, resumed = weights(tmp_path / "whole"), weights(folder)
        assert all(torch.equal(whole[key], resumed[key]) for key in whole)


def test_averaged_weights_are_what_is_evaluated_and_saved_and_survive_a_resume(recipe, tmp_path):
    wanted = recipe("training.save_every=1", "training.average=0.9")
    run(wanted, tmp_path / "whole")
    task = make_task(wanted, tmp_path / "stopped")
    task.step = failing_after(task.step, 7)
    with pytest.raises(KeyboardInterrupt):
        train(task, wanted, tmp_path / "stopped")
    run(wanted, tmp_path / "stopped", resume=True)
    saved = [load_file(tmp_path / name / "best" / "model.safetensors") for name in ("whole", "stopped")]
    average = load_file(tmp_path / "whole" / "checkpoint" / "average.safetensors")
    assert all(torch.equal(saved[0][key], saved[1][key]) for key in saved[0])
    assert not all(torch.allclose(average[key], value) for key, value in weights(tmp_path / "whole").items())


def test_the_moving_average_is_the_mean_of_equal_steps_at_first_and_leaves_the_model_alone():
    model = torch.nn.Linear(1, 1, bias=False)
    model.weight.data.fill_(1.0)
    average = Average(model, 0.5)
    model.weight.data.fill_(3.0)
    average.update(1)  # decay 1/10 after the first step
    with average.worn():
        assert model.weight.item() == pytest.approx(0.1 * 1.0 + 0.9 * 3.0)
    assert model.weight.item() == 3.0


def test_frozen_parameters_stay_as_they_were(recipe, tmp_path):
    wanted = recipe("training.max_steps=3", 'training.frozen=["encoder.model.embeddings.word"]')
    task = make_task(wanted, tmp_path)
    before = {name: value.detach().clone() for name, value in task.model.named_parameters()}
    train(task, wanted, tmp_path)
    same = {name for name, value in task.model.named_parameters() if torch.equal(before[name], value)}
    assert same == {"encoder.model.embeddings.word_embeddings.weight"}


def test_a_run_killed_at_a_random_moment_resumes_to_identical_weights(recipe_file, tmp_path):
    changes = ["training.save_every=1", "training.epochs=12", "data.valid_limit=5"]
    command = [sys.executable, "-m", "allears", "train", str(recipe_file)]
    command += [word for change in changes for word in ("--set", change)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    killed = subprocess.Popen(
        [*command, "--out", str(tmp_path / "killed")],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    progress = tmp_path / "killed" / "checkpoint" / "progress.json"
    deadline = time.monotonic() + 120
    while not progress.exists() and time.monotonic() < deadline:
        assert killed.poll() is None, "the run ended before it could be killed"
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.5))
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    for arguments in (["--out", str(tmp_path / "killed"), "--resume"], ["--out", str(tmp_path / "whole")]):
        subprocess.run([*command, *arguments], env=environment, check=True, capture_output=True, timeout=300)
    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "killed")
    assert all(torch.equal(whole[key], resumed[key]) for key in whole)


def test_a_corrupt_or_missing_checkpoint_is_one_sentence(recipe, tmp_path):
    wanted = recipe("training.epochs=1")
    with pytest.raises(AllearsError, match="no checkpoint to resume from"):
        run(wanted, tmp_path / "none", resume=True)
    run(wanted, tmp_path / "run")
    (tmp_path / "run" / "checkpoint" / "model.safetensors").write_bytes(b"rubbish")
    with pytest.raises(AllearsError, match="corrupt or of another recipe"):
        run(wanted, tmp_path / "run", resume=True)


def test_early_stopping_ends_the_run_when_the_metric_no_longer_rises(recipe, tmp_path):
    wanted = recipe("training.epochs=50", "training.learning_rate=0.0", "training.patience=2")
    run(wanted, tmp_path / "run")
    log = (tmp_path / "run" / "log.jsonl").read_text()
    assert log.count('"mrr"') == 3  # the first is the best, two more are no better


def test_a_metric_nobody_measures_is_one_sentence(recipe, tmp_path):
    with pytest.raises(AllearsError, match=r"training\.metric 'bleu' is not measured by this task"):
        run(recipe("training.epochs=1", "training.metric=bleu"), tmp_path / "run")


def test_a_compiled_encoder_learns_the_same_and_keeps_its_names(recipe, tmp_path):
    run(recipe("training.epochs=1"), tmp_path / "plain")
    run(recipe("training.epochs=1", "training.compile=eager"), tmp_path / "compiled")
    plain, compiled = weights(tmp_path / "plain"), weights(tmp_path / "compiled")
    assert plain.keys() == compiled.keys()
    assert all(torch.allclose(plain[key], compiled[key], atol=1e-5) for key in plain)


def test_weights_and_biases_is_optional_and_said_to_be_missing(recipe, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)  # as if it were not installed
    with pytest.raises(AllearsError, match="pip install wandb"):
        run(recipe("training.epochs=1", "training.wandb=project"), tmp_path / "run")


def test_gradient_accumulation_counts_batches_per_step(recipe, tmp_path):
    run(recipe("training.epochs=1", "training.accumulate=3"), tmp_path / "run")
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    batches = len(make_task(recipe(), tmp_path / "other").batches(0))
    assert max(entry["step"] for entry in log) == batches // 3


def test_two_processes_reproduce_the_loss_curve_of_one_at_equal_global_batch(recipe_file, tmp_path):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    more = [str(recipe_file), "--set", "training.epochs=2", "--set", "negatives.symmetric=true"]
    single = [sys.executable, "-m", "allears", "train", *more, "--out", str(tmp_path / "one")]
    double = [
        sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "2", "--num_machines", "1",
        "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0",
        "-m", "allears", "train", *more, "--out", str(tmp_path / "two"),
    ]  # fmt: skip
    for command in (single, double):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
    one, two = (
        [
            json.loads(line)["loss"]
            for line in (tmp_path / name / "log.jsonl").read_text().splitlines()
            if "loss" in line
        ]
        for name in ("one", "two")
    )
    assert len(one) > 1
    assert two == pytest.approx(one, rel=1e-4)
    first, second = weights(tmp_path / "one"), weights(tmp_path / "two")
    assert all(torch.allclose(first[key], second[key], atol=1e-5) for key in first)


def test_the_learning_rate_warms_up_and_goes_down():
    options = TrainingOptions(warmup=0.1)
    rates = [learning_rate(step, 100, options) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == rates[9] == 1.0
    assert rates[-1] < 0.02
    assert learning_rate(99, 100, TrainingOptions(warmup=0.1, schedule="constant")) == 1.0
    assert learning_rate(55, 100, TrainingOptions(warmup=0.1, schedule="cosine")) == pytest.approx(0.5)


def test_the_encoder_and_the_head_have_rates_of_their_own_and_vectors_do_not_decay(recipe, tmp_path):
    model = make_task(recipe("model.name=poly_encoder", "model.options={codes=4}"), tmp_path / "run").model
    groups = parameter_groups(model, TrainingOptions(learning_rate=1.0, head_learning_rate=5.0))
    assert {group["peak"] for group in groups} == {1.0, 5.0}
    assert sum(len(group["params"]) for group in groups) == len(list(model.parameters()))
    assert all(p.dim() > 1 for group in groups if "weight_decay" not in group for p in group["params"])
