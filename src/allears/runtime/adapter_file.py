"""An adapter's weights on disk: float16 as training writes them, or int8 as they are shipped; both are read alike.

w  becomes  round(127 w / s),  s = max |w| of its row        for every row of "….lora_A" and "….lora_B"

s is one of the row's own numbers, so of a float16 adapter it is kept exactly, and packing twice changes nothing. It
stands beside its matrix as "….lora_A.scale". All else, some thousand numbers, stays in float16.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from allears.errors import AllearsError

MATRICES = (".lora_A", ".lora_B")
SCALE = ".scale"
STEPS = 127  # on each side of zero

Floats = npt.NDArray[np.float32]


def pack(learned: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Weights by name, in any floating precision, as they are shipped."""
    packed: dict[str, npt.NDArray[Any]] = {}
    for name, weights in learned.items():
        with np.errstate(over="ignore"):  # what float16 cannot hold is told below
            short = weights.astype(np.float16)
        if not np.isfinite(short).all():
            raise AllearsError(
                f"{name} holds numbers that float16 cannot, so the adapter cannot be kept; train again, more slowly"
            )
        if not (name.endswith(MATRICES) and weights.ndim == 2):
            packed[name] = short
            continue
        scales = np.abs(short).max(1, initial=0)  # [rows]
        steps = (
            STEPS * weights.astype(np.float32) / np.where(scales == 0, 1, scales)[:, None].astype(np.float32)
        )
        packed[name] = np.rint(steps).clip(-STEPS, STEPS).astype(np.int8)
        packed[name + SCALE] = scales
    return packed


def unpack(stored: Mapping[str, npt.NDArray[Any]]) -> dict[str, Floats]:
    """The weights of either form; ValueError names what is wrong with others."""
    scales = {name for name in stored if name.endswith(tuple(matrix + SCALE for matrix in MATRICES))}
    learned: dict[str, Floats] = {}
    for name, value in stored.items():
        if name in scales:
            matrix = stored.get(name.removesuffix(SCALE))
            if matrix is None or matrix.dtype != np.int8:
                raise ValueError(f"{name} has no int8 matrix")
            continue
        if value.dtype == np.int8:
            learned[name] = _unpacked(name, value, stored.get(name + SCALE))
        elif np.issubdtype(value.dtype, np.floating):
            learned[name] = value.astype(np.float32)
        else:
            raise ValueError(f"{name} is kept in {value.dtype}, expected float16 or int8")
        if not np.isfinite(learned[name]).all():
            raise ValueError(f"{name} holds numbers that are not finite")
    return learned


def _unpacked(name: str, steps: npt.NDArray[np.int8], scales: npt.NDArray[Any] | None) -> Floats:
    if scales is None:
        raise ValueError(f"{name} is int8, but its {name}{SCALE} is missing")
    if steps.ndim != 2 or scales.shape != steps.shape[:1] or scales.dtype != np.float16:
        raise ValueError(
            f"{name}{SCALE} is {scales.dtype} {list(scales.shape)}, "
            f"expected one float16 for each row of {list(steps.shape)}"
        )
    found: Floats = steps.astype(np.float32) * (scales.astype(np.float32) / np.float32(STEPS))[:, None]
    return found


def read_adapter(path: Path) -> dict[str, Floats]:
    """An adapter's weights by name, from a file of either form."""
    try:
        # TypeError and KeyError: a kind of number that NumPy does not have
        return unpack(load_file(path))
    except (SafetensorError, OSError, ValueError, TypeError, KeyError) as error:
        detail = (str(error).splitlines() or [type(error).__name__])[0]
        raise AllearsError(f"{path}: the adapter is missing or corrupt ({detail})") from error


def write_adapter(path: Path, learned: Mapping[str, npt.NDArray[Any]]) -> None:
    """As int8; the file is whole or absent."""
    temporary = path.with_name(path.name + ".part")
    temporary.write_bytes(save(pack(learned)))  # `save_file` would let only its owner read it
    temporary.rename(path)
