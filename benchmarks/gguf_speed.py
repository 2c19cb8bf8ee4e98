"""What a GGUF voice costs over llama.cpp itself, on the same file and the same request; part of generation.py."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allears.decoding import Settings
from allears.runtime.generator import Prompt
from allears.runtime.gguf_voice import STRATEGY_TOKENS, GgufOptions, GgufVoice, _sampling

TOKENS = 40


def against_llama(file: Path, adapter: Path | None, prompt: Prompt, rounds: int) -> dict[str, Any]:
    """Both write the same 40 tokens after a prompt that was read before, taking turns; the best of each counts.

    `llama_cpp_ratio`: our seconds, from the call to the last piece, over those that llama.cpp notes when it is asked
    alone. `own_clock_ratio`: over those that it notes for our very request, which other work on the machine cannot
    change.
    """
    start = time.perf_counter()
    voice = GgufVoice(GgufOptions(file, adapter))
    loaded = time.perf_counter() - start
    free_choice = not (voice.ours and prompt.strategy)
    settings = Settings(method="greedy", longest=TOKENS - (STRATEGY_TOKENS if free_choice else 0))
    first_read, _, _ = _ours(voice, prompt, settings)
    ours, firsts, noted, theirs = [], [], [], []
    for _ in range(rounds):
        first, whole, clock = _ours(voice, prompt, settings)
        firsts.append(first)
        ours.append(whole)
        noted.append(whole / clock)
        theirs.append(_theirs(voice, prompt, settings))
    voice.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return {
        "gguf_load_s": round(loaded, 2),
        "gguf_first_word_unread_s": round(first_read, 2),
        "gguf_first_word_cached_s": round(min(firsts), 3),
        "gguf_40_tokens_s": round(min(ours), 2),
        "llama_cpp_40_tokens_s": round(min(theirs), 2),
        "llama_cpp_ratio": round(min(ours) / min(theirs), 2),
        "own_clock_ratio": round(min(noted), 3),
        "peak_memory_mib": round(peak),
    }


def _ours(voice: GgufVoice, prompt: Prompt, settings: Settings) -> tuple[float, float, float]:
    """Seconds to the first piece and to the last, and by llama.cpp's own clock."""
    start = time.perf_counter()
    first, clock = 0.0, 0.0
    for piece in voice._pieces(prompt, settings, 0, {"ignore_eos": True}, None):
        first = first or (time.perf_counter() - start if piece.text else 0.0)
        clock = _seconds(piece.timings) if piece.timings else clock
    return first, time.perf_counter() - start, clock


def _seconds(timings: Mapping[str, Any]) -> float:
    return float(timings["prompt_ms"] + timings["predicted_ms"]) / 1000


def _theirs(voice: GgufVoice, prompt: Prompt, settings: Settings) -> float:
    """Seconds by llama.cpp's own clock, asked without us in between."""
    body = {**_sampling(settings, 0), "max_tokens": TOKENS, "cache_prompt": True, "ignore_eos": True}
    body |= voice._asked(prompt) | {"id_slot": voice.engine._opened.oldest[-1]}
    server = voice.engine._opened.server
    ask = server.handle_completions if voice.ours else server.handle_chat_completions
    told = ask(body)["timings"]
    assert told["predicted_n"] == TOKENS
    return _seconds(told)
