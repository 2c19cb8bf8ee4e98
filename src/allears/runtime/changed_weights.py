"""A bundle's encoder as its base and what fine-tuning changed: `encoder.change.json` and `encoder.change`.

The graph's files hold the base's int8 weights. When the graph is opened, the low-rank change of each matrix is added to
them, in the base's steps: 80 milliseconds for 72 matrices, and nothing while running. Needs NumPy alone.

Another graph with the same matrices can be a change of that encoder: its file says `upon` which changes it comes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError

CHANGE_FILE = "encoder.change.json"

Bytes = npt.NDArray[np.uint8]
Half = npt.NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class WeightPlace:
    """Where a weight's bytes lie."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class ChangedMatrix:
    """A matrix of `MatMulNBits`: int8 around 128, [outputs, blocks, block], with a scale per block; and its change."""

    name: str
    shape: tuple[int, int, int]
    stored: WeightPlace
    scales: WeightPlace
    up: WeightPlace  # float16 [outputs, rank]
    down: WeightPlace  # float16 [rank, inputs]
    rank: int


@dataclass(frozen=True, slots=True)
class Changing:
    """What is known of a matrix when it is exported; bytes that lie in no file yet are given themselves."""

    shape: tuple[int, int, int]
    stored: WeightPlace | bytes
    scales: WeightPlace | bytes
    up: Half
    down: Half


def change_file(graph: str) -> str:
    """What says how the weights of a graph are changed: encoder.change.json for encoder.onnx."""
    return f"{graph.removesuffix('.onnx')}.change.json"


def numbers_file(change: str) -> str:
    """Where the numbers of a change lie: encoder.change beside encoder.change.json."""
    return change.removesuffix(".json")


def write_changes(
    folder: Path, matrices: Mapping[str, Changing], change: str = CHANGE_FILE, *, upon: str = ""
) -> list[str]:
    """Returns the names of the files written. `upon` names the change that is made first, of the same matrices."""
    numbers = bytearray()

    def put(content: WeightPlace | bytes) -> WeightPlace:
        if isinstance(content, WeightPlace):
            return content
        numbers.extend(content)
        return WeightPlace(numbers_file(change), len(numbers) - len(content), len(content))

    found = [
        ChangedMatrix(
            name,
            matrix.shape,
            put(matrix.stored),
            put(matrix.scales),
            put(np.ascontiguousarray(matrix.up, np.float16).tobytes()),
            put(np.ascontiguousarray(matrix.down, np.float16).tobytes()),
            len(matrix.down),
        )
        for name, matrix in matrices.items()
    ]
    (folder / numbers_file(change)).write_bytes(numbers)
    record = {"matrices": [asdict(matrix) for matrix in found]} | ({"upon": upon} if upon else {})
    text = json.dumps(record, separators=(",", ":"))
    (folder / change).write_text(text + "\n", encoding="utf-8")
    return [change, numbers_file(change)]


def changed_weights(
    folder: Path, change: str = CHANGE_FILE, only: Collection[str] | None = None
) -> dict[str, Bytes]:
    """The matrices of a graph in `folder` as they are after the change, by name; none for a graph without one.

    `only` names those that are wanted, if not all are.
    """
    path = folder / change
    if not path.is_file():
        return {}
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        matrices = [_matrix(each) for each in record["matrices"] if only is None or each["name"] in only]
        needed = {matrix.name for matrix in matrices}
        first = changed_weights(folder, record["upon"], needed) if record.get("upon") else {}
        files = {
            name: np.memmap(folder / name, np.uint8, "r") for name in {f for m in matrices for f in _files(m)}
        }
        return {matrix.name: _changed(matrix, files, first.get(matrix.name)) for matrix in matrices}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AllearsError(
            f"{path}: the change of the weights cannot be read ({error}); export again"
        ) from error


def _matrix(record: dict[str, Any]) -> ChangedMatrix:
    places = {name: WeightPlace(**record[name]) for name in ("stored", "scales", "up", "down")}
    outputs, blocks, block = record["shape"]
    return ChangedMatrix(record["name"], (outputs, blocks, block), **places, rank=record["rank"])


def _files(matrix: ChangedMatrix) -> set[str]:
    return {place.file for place in (matrix.stored, matrix.scales, matrix.up, matrix.down)}


def _changed(matrix: ChangedMatrix, files: Mapping[str, Bytes], first: Bytes | None) -> Bytes:
    """`first`: the matrix after an earlier change, in the place of what is stored."""

    def read(place: WeightPlace) -> Bytes:
        return files[place.file][place.offset : place.offset + place.length]

    outputs, blocks, _ = matrix.shape
    up = read(matrix.up).view(np.float16).reshape(outputs, matrix.rank).astype(np.float32)
    down = read(matrix.down).view(np.float16).reshape(matrix.rank, -1).astype(np.float32)
    steps = (up @ down).reshape(matrix.shape)
    steps /= read(matrix.scales).view(np.float32).reshape(outputs, blocks, 1)
    steps += (read(matrix.stored) if first is None else first).reshape(matrix.shape)
    steps += 0.5  # and cut off below: rounded to the nearest
    np.clip(steps, 0, 255, out=steps)
    return steps.astype(np.uint8)
