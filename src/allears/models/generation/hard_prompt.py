"""Hard Prompt (PAL section 4.2): the persona in front of the context, as if somebody had said it.

H = Enc("persona: p_1 ... p_m", SEP, "dialogue history:", SEP, u_1, SEP, ..., u_n)

Otherwise it is Blenderbot-Joint; where the persona goes is the layout's business (`layout.py`).
"""

from __future__ import annotations

from allears.models.generation.joint import Joint
from allears.runtime.prompt_layout import PersonaPlace


class HardPrompt(Joint):
    place = PersonaPlace.IN_FRONT
