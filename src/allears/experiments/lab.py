"""Where runs are trained and measured, each once: by its key, which says what it depends on.

A run's folder is NAME-KEY. A killed run goes on at its last checkpoint; a finished one is never trained again, unless
its recipe, its data, the code of its rooms or a run that it starts from has changed, which is another key.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from allears.errors import AllearsError
from allears.experiments.contract import Done, Measurement, Run
from allears.experiments.fingerprints import (
    GENERATION,
    SELECTION,
    UNDERSTANDING,
    code_of,
    digest,
    file_digest,
)
from allears.experiments.made_corpora import Corpora
from allears.experiments.setting import Setting
from allears.experiments.small import ENCODER, small_changes, tiny_encoder

FINISHED = "finished.json"
ROOMS = {
    "selection": SELECTION,
    "generation": GENERATION,
    "understanding": UNDERSTANDING,
    "joint": (*SELECTION, *GENERATION, *UNDERSTANDING),
}
Record = dict[str, Any]
Note = Callable[[str], None]


def silent(what: str) -> None:
    """Says nothing."""


class Lab:
    def __init__(self, setting: Setting, note: Note = silent):
        self.setting, self.note = setting, note
        self.corpora = Corpora(setting)
        self._keys: dict[Run, str] = {}
        self._failed: dict[Run | Measurement, str] = {}

    # --- runs -------------------------------------------------------------------------------------------

    def changes(self, run: Run) -> list[str]:
        """Every `--set` of a run here: its own, the setting's, and where its corpora and other runs are."""
        from allears.training.recipe import read_recipe

        path = self.setting.recipe(run.recipe)
        changes = list(run.changes)
        recipe = read_recipe(path, changes)
        if self.setting.small:
            changes += small_changes(recipe, self.setting.home.absolute() / ENCODER)
        else:
            changes += self._own_files(recipe.tables.get("model", {}))
        data = recipe.tables.get("data", {})
        if "train" in data:
            changes.append(f"data.train={json.dumps([self.corpora.place(name) for name in data['train']])}")
        if "valid" in data:
            changes.append(f"data.valid={json.dumps(self.corpora.place(data['valid']))}")
        changes.append(f"data.root={json.dumps(str(self.corpora.root))}")
        for key, used in run.uses:
            folders = [str(self.place_of(each)) for each in (used if isinstance(used, tuple) else (used,))]
            changes.append(f"{key}={json.dumps(folders if isinstance(used, tuple) else folders[0])}")
            if key == "model.start":
                changes.append("model.encoder=")  # the other run brings it
        return changes

    def _own_files(self, model: dict[str, Any]) -> list[str]:
        changes = []
        if self.setting.encoder and model.get("encoder"):
            changes.append(f"model.encoder={json.dumps(self.setting.encoder)}")
        if self.setting.vectors and model.get("vectors"):
            changes.append(f"model.vectors={json.dumps(self.setting.vectors)}")
        return changes

    def key(self, run: Run) -> str:
        """Of everything that a run's weights depend on."""
        if run not in self._keys:
            from allears.training.recipe import read_recipe

            path = self.setting.recipe(run.recipe)
            recipe = read_recipe(path, run.changes)
            data = recipe.tables.get("data", {})
            model = recipe.tables.get("model", {})
            used = [
                (name, split)
                for split, names in (("train", data.get("train", [])), ("valid", [data.get("valid", "")]))
                for name in names
                if name
            ]
            self._keys[run] = digest(
                {
                    "recipe": file_digest(path),
                    "changes": run.changes,
                    "small": small_changes(recipe, Path(ENCODER)) if self.setting.small else [],
                    "own files": [] if self.setting.small else self._own_files(model),
                    "uses": {key: [self.key(each) for each in _several(used)] for key, used in run.uses},
                    "data": {
                        f"{name} {split}": self.corpora.fingerprint(name, split) for name, split in used
                    },
                    "code": code_of(*ROOMS.get(recipe.task, ROOMS["joint"])),
                }
            )
        return self._keys[run]

    def place_of(self, run: Run) -> Path:
        return self.setting.home.absolute() / "runs" / f"{run.name}-{self.key(run)}"

    def trained(self, run: Run) -> Path:
        """The folder of a finished run; trained now if it is not there."""
        self._refuse_again(run)
        try:
            for other in run.needs:
                self.trained(other)
            folder = self.place_of(run)
            if not self.is_done(run):
                self._refuse_new(f"{run.name} was not trained yet")
                self._train(run, folder)
        except AllearsError as error:
            self._failed[run] = str(error)
            raise
        return folder

    def _train(self, run: Run, folder: Path) -> None:
        try:
            from torch import OutOfMemoryError

            from allears.training.loop import train
            from allears.training.recipe import read_recipe
            from allears.training.tasks import make_task
        except ImportError as error:
            raise AllearsError(f'training needs more: pip install "allears[train]" ({error})') from error
        if self.setting.small:
            tiny_encoder(self.setting.home.absolute() / ENCODER)
        started = (folder / "checkpoint").exists() or (folder / "checkpoint.old").exists()
        self.note(f"{'going on with' if started else 'training'} {run.name}")
        begun = time.perf_counter()
        recipe = read_recipe(self.setting.recipe(run.recipe), self.changes(run))
        try:
            metrics = train(make_task(recipe, folder), recipe, folder, resume=started)
        except OutOfMemoryError as error:
            raise AllearsError(
                f"{run.name} needs more memory than the GPU has left; try fewer --workers"
            ) from error
        record = {
            "metrics": metrics, "seconds": round(time.perf_counter() - begun, 3), "resumed": started,
            "hardware": hardware(), "command": self.train_command(run),
        }  # fmt: skip
        write_whole(folder / FINISHED, record)

    def train_command(self, run: Run) -> str:
        """What trains this run by hand. In the small setting it only names the recipe: its changes are many."""
        words = ["allears", "train", f"recipes/{run.recipe}.toml"]
        for change in run.changes:
            words += ["--set", change]
        for key, used in run.uses:
            names = [f"runs/{each.name}" for each in _several(used)]
            words += ["--set", f"{key}={json.dumps(names) if isinstance(used, tuple) else names[0]}"]
        return shlex.join([*words, "--out", f"runs/{run.name}"]) + (" (small)" if self.setting.small else "")

    def run_done(self, run: Run) -> Done:
        record = json.loads((self.place_of(run) / FINISHED).read_text(encoding="utf-8"))
        return Done(run.name, record["command"], record["seconds"], record["hardware"], self.key(run))

    # --- measurements -----------------------------------------------------------------------------------

    def measured(self, measurement: Measurement) -> Record:
        """The record of a measurement: kept, or made now, training what it needs first."""
        self._refuse_again(measurement)
        try:
            path = self._record_place(measurement)
            if not path.is_file():
                self._refuse_new("not measured yet")
            for run in measurement.runs:
                self.trained(run)
            if not path.is_file():
                self._measure(measurement, path)
        except AllearsError as error:
            self._failed[measurement] = str(error)
            raise
        found: Record = json.loads(path.read_text(encoding="utf-8"))["measures"]
        return found

    def _record_place(self, measurement: Measurement) -> Path:
        return (
            self.setting.home
            / "measurements"
            / f"{measurement.kind}-{self.measurement_key(measurement)}.json"
        )

    def measurement_key(self, measurement: Measurement) -> str:
        from allears.experiments.measures import KINDS

        kind = KINDS[measurement.kind]
        split = str(measurement.option("split", "valid"))
        corpora = [measurement.option("corpus"), *(measurement.option("pools") or ())]
        data = {name: self.corpora.fingerprint(name, split) for name in corpora if name}
        data |= {f"{name} train": self.corpora.fingerprint(name, "train") for name in corpora[1:]}
        models = [
            self.key(each) if isinstance(each, Run) else each
            for each in (measurement.of, measurement.against)
        ]
        return digest(
            {
                "kind": measurement.kind, "models": models, "settings": measurement.settings, "data": data,
                "code": code_of(*kind.rooms, *kind.files), "small": self.setting.small,
                "limit": self.setting.limit, "device": self.setting.device if kind.timed else "",
                "study": str(self.setting.study) if measurement.kind == "study" else "",
            }
        )  # fmt: skip

    def _measure(self, measurement: Measurement, path: Path) -> None:
        from allears.experiments.measures import KINDS

        who = measurement.of.name if isinstance(measurement.of, Run) else measurement.of
        self.note(f"measuring {who or measurement.option('corpus', '')}: {measurement.kind}".strip())
        begun = time.perf_counter()
        found = KINDS[measurement.kind].work(self, measurement)
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "what": f"{measurement.kind} {who}".strip(), "measures": found, "hardware": hardware(),
            "seconds": round(time.perf_counter() - begun, 3),
            "command": KINDS[measurement.kind].command(self, measurement),
        }  # fmt: skip
        write_whole(path, record)

    def measurement_done(self, measurement: Measurement) -> Done:
        record = json.loads(self._record_place(measurement).read_text(encoding="utf-8"))
        key = self.measurement_key(measurement)
        return Done(record["what"], record["command"], record["seconds"], record["hardware"], key)

    # --- several processes in one lab -------------------------------------------------------------------

    def prepare(self, jobs: Iterable[Run | Measurement]) -> None:
        """Make the corpora that jobs ask for, and a small setting's encoder: two processes would get in each other's
        way. What cannot be made says so in its cells, later."""
        if self.setting.small:
            tiny_encoder(self.setting.home.absolute() / ENCODER)
        for job in jobs:
            with suppress(AllearsError):
                self.is_done(job)

    def is_done(self, job: Run | Measurement) -> bool:
        if isinstance(job, Run):
            return (self.place_of(job) / FINISHED).is_file()
        return self._record_place(job).is_file()

    def lock_of(self, job: Run | Measurement) -> Path:
        """A file that stands for somebody being at it."""
        place = self.place_of(job) if isinstance(job, Run) else self._record_place(job)
        return self.setting.home / "locks" / f"{place.name}.lock"

    def remember_failures(self, failed: Mapping[Run | Measurement, str]) -> None:
        """What failed elsewhere is not tried again here."""
        self._failed |= failed

    def without_places(self, text: str) -> str:
        """A sentence for everybody: folders of this machine have no business in results.json."""
        for place, name in (
            (self.corpora.root, "ALLEARS_DATA"),
            (self.setting.home.absolute(), "the experiments' folder"),
            (Path.home(), "~"),
        ):
            text = text.replace(str(place), name)
        return text

    def _refuse_new(self, why: str) -> None:
        if self.setting.ready:
            raise AllearsError(why)

    def _refuse_again(self, asked: Run | Measurement) -> None:
        """What failed in this session fails again at once: twenty cells may ask for the same run."""
        if asked in self._failed:
            raise AllearsError(self._failed[asked])


def _several(used: Run | tuple[Run, ...]) -> tuple[Run, ...]:
    return used if isinstance(used, tuple) else (used,)


def hardware() -> str:
    """The GPU if torch was needed and sees one, else the processor."""
    import sys

    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return str(torch.cuda.get_device_name())
    return f"CPU ({platform.machine()}, {os.cpu_count()} cores)"


def write_whole(path: Path, content: Any) -> None:
    """JSON by way of a temporary file: whole or absent."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.rename(path)
