"""Search over what a model may write next, for any array library (imports no torch): see `contract.py`."""

from allears.decoding.alphas import PAL_ALPHAS, AlphaTable
from allears.decoding.arrays import take_rows
from allears.decoding.beam import beam_search, diverse_beam_search
from allears.decoding.contract import Array, Constraint, Processor, Reorder, State, Step, Warp, Written
from allears.decoding.greedy_search import greedy
from allears.decoding.named import DECODINGS, decoding
from allears.decoding.processors import at_least, begin_with, never, no_repeated_ngrams, repetition_penalty
from allears.decoding.sampling import drawing, sample
from allears.decoding.settings import CONSENSUS_SETTINGS, PAL_SETTINGS, VOICE_SETTINGS, Settings, write
from allears.decoding.streaming import Chosen, collect, likeliest, stream
from allears.decoding.two_branches import TwoBranches, interleaved
from allears.decoding.warps import temperature, top_k, top_p

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
