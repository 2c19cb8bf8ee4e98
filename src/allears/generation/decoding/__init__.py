"""Search over what a model may write next, for any array library (imports no torch): see `contract.py`."""

from allears.generation.decoding.alphas import PAL_ALPHAS, AlphaTable
from allears.generation.decoding.arrays import take_rows
from allears.generation.decoding.beam import beam_search, diverse_beam_search
from allears.generation.decoding.contract import (
    Array,
    Constraint,
    Processor,
    Reorder,
    State,
    Step,
    Warp,
    Written,
)
from allears.generation.decoding.greedy_search import greedy
from allears.generation.decoding.named import DECODINGS, decoding
from allears.generation.decoding.processors import (
    at_least,
    begin_with,
    never,
    no_repeated_ngrams,
    repetition_penalty,
)
from allears.generation.decoding.sampling import drawing, sample
from allears.generation.decoding.settings import (
    CONSENSUS_SETTINGS,
    PAL_SETTINGS,
    VOICE_SETTINGS,
    Settings,
    write,
)
from allears.generation.decoding.streaming import Chosen, collect, likeliest, stream
from allears.generation.decoding.two_branches import TwoBranches, interleaved
from allears.generation.decoding.warps import temperature, top_k, top_p

__all__ = [
    "CONSENSUS_SETTINGS",
    "DECODINGS",
    "PAL_ALPHAS",
    "PAL_SETTINGS",
    "VOICE_SETTINGS",
    "AlphaTable",
    "Array",
    "Chosen",
    "Constraint",
    "Processor",
    "Reorder",
    "Settings",
    "State",
    "Step",
    "TwoBranches",
    "Warp",
    "Written",
    "at_least",
    "beam_search",
    "begin_with",
    "collect",
    "decoding",
    "diverse_beam_search",
    "drawing",
    "greedy",
    "interleaved",
    "likeliest",
    "never",
    "no_repeated_ngrams",
    "repetition_penalty",
    "sample",
    "stream",
    "take_rows",
    "temperature",
    "top_k",
    "top_p",
    "write",
]
