"""How bold a draw is: temperature, top-k, top-p. Pure functions on scores [B, V], applied in their order."""

from __future__ import annotations

from array_api_compat import array_namespace

from allears.decoding.arrays import top_values
from allears.decoding.contract import Array, Warp
from allears.errors import AllearsError

_FEW = 256  # tokens that usually hold all of p; sorting just these is much faster than sorting a vocabulary


def temperature(value: float) -> Warp:
    """Below 1 the likely becomes likelier, above 1 everything more alike."""
    if not value > 0:
        raise AllearsError(f"a temperature is above 0, not {value}; for no chance at all decode greedily")
    return lambda scores: scores / value


def top_k(count: int) -> Warp:
    """Only the `count` likeliest tokens (and those that are exactly as likely as the last of them)."""
    if count < 1:
        raise AllearsError(f"top-k keeps at least 1 token, not {count}")
    return lambda scores: _at_least(scores, top_values(scores, count)[:, -1:])


def top_p(share: float) -> Warp:
    """Only the likeliest tokens that together have a probability of `share` (Holtzman et al. 2020); at least one."""
    if not 0 < share <= 1:
        raise AllearsError(f"top-p is a share above 0 and at most 1, not {share}")

    def warp(scores: Array) -> Array:
        xp = array_namespace(scores)
        best = top_values(scores, _FEW)  # [B, few], likeliest first
        free = scores if xp.any(best[:, -1] > -xp.inf) else best  # after top-k, those are all there are
        top = _finite(best[:, :1])
        total = xp.sum(_weights(free - top), axis=-1, keepdims=True)
        inside = _before(best - top) < share * total
        if xp.any(inside[:, -1]):  # even these do not hold enough
            best = top_values(scores, scores.shape[-1])
            inside = _before(best - top) < share * total
        last = xp.sum(xp.astype(inside, xp.int64), axis=-1, keepdims=True) - 1
        return _at_least(scores, xp.take_along_axis(best, last, axis=-1))

    return warp


def _at_least(scores: Array, least: Array) -> Array:
    xp = array_namespace(scores)
    return xp.where(scores >= least, scores, xp.full_like(scores, -xp.inf))


def _before(scores: Array) -> Array:
    """What all likelier tokens hold together, for scores that fall."""
    weights = _weights(scores)
    return array_namespace(scores).cumulative_sum(weights, axis=-1) - weights


def _weights(scores: Array) -> Array:
    """exp in float64, so that libraries which round differently keep the same tokens; of -inf it would be slow."""
    xp = array_namespace(scores)
    return xp.exp(xp.astype(xp.clip(scores, min=-80.0), xp.float64))


def _finite(top: Array) -> Array:
    """0 for a row in which everything is barred: there is nothing to narrow, and nothing shall become NaN."""
    xp = array_namespace(top)
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))
