"""Every set of labels that a head can give, in the order that its numbers mean."""

from __future__ import annotations

from types import MappingProxyType

from allears.corpora.daily_dialog import ACTS as DAILY_ACTS
from allears.corpora.daily_dialog import EMOTIONS as DAILY_EMOTIONS
from allears.corpora.empathetic_dialogues import EMOTIONS as ED_EMOTIONS
from allears.corpora.empathetic_intents import INTENTS
from allears.corpora.epitome import MECHANISMS
from allears.corpora.esconv import STRATEGIES
from allears.corpora.goemotions import EMOTIONS as GO_EMOTIONS

__all__ = [
    "DAILY_ACTS",
    "DAILY_EMOTIONS",
    "ED_EMOTIONS",
    "ED_GROUPS",
    "ED_GROUP_OF",
    "GO_EMOTIONS",
    "INTENTS",
    "LEVELS",
    "MECHANISMS",
    "NEGATIVE",
    "POLARITIES",
    "POLARITY_OF",
    "POSITIVE",
    "STRATEGIES",
    "TOPICS",
]

# The 16 groups of the third paper ("Improving empathetic response generation"): a group has its members' names.
_GROUPS = (
    ("afraid", "terrified", "anxious"),
    ("angry", "annoyed", "furious"),
    ("guilty", "embarrassed", "ashamed"),
    ("prepared", "anticipating", "apprehensive"),
    ("hopeful", "confident"),
    ("grateful", "content"),
    ("excited", "joyful"),
    ("disappointed", "disgusted"),
    ("proud", "impressed"),
    ("sad", "devastated"),
    ("sentimental", "nostalgic"),
    ("trusting", "faithful"),
    ("caring",),
    ("jealous",),
    ("lonely",),
    ("surprised",),
)
ED_GROUPS = tuple("+".join(group) for group in _GROUPS)
ED_GROUP_OF = MappingProxyType({emotion: "+".join(group) for group in _GROUPS for emotion in group})

# MIME, Table 1. The authors note that `surprised` can be either; they count it as positive.
POSITIVE = (
    "confident", "joyful", "grateful", "impressed", "proud", "excited", "trusting", "hopeful", "faithful",
    "prepared", "content", "surprised", "caring",
)  # fmt: skip
NEGATIVE = tuple(emotion for emotion in ED_EMOTIONS if emotion not in POSITIVE)
POLARITIES = ("positive", "negative")
POLARITY_OF = MappingProxyType(
    {emotion: "positive" if emotion in POSITIVE else "negative" for emotion in ED_EMOTIONS}
)

# How strongly a response shows one of EPITOME's mechanisms.
LEVELS = ("0", "1", "2")

# What the crisis screen looks for.
RISKS = ("none", "suicide", "self-harm", "abuse", "harm-to-others")

TOPICS = (
    "alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware", "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles",
    "rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.electronics", "sci.med", "sci.space",
    "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast", "talk.politics.misc",
    "talk.religion.misc",
)  # fmt: skip
