"""Every closed set of labels, in the order that a model's numbers mean."""

from __future__ import annotations

from types import MappingProxyType

__all__ = [
    "ALL_CLEAR",
    "DAILY_ACTS",
    "DAILY_EMOTIONS",
    "DANGERS",
    "ED_EMOTIONS",
    "ED_GROUPS",
    "ED_GROUP_OF",
    "GO_EMOTIONS",
    "INTENTS",
    "LEVELS",
    "MARKS",
    "MECHANISMS",
    "NEGATIVE",
    "POLARITIES",
    "POLARITY_OF",
    "POSITIVE",
    "RISKS",
    "STRATEGIES",
    "TOPICS",
    "WHOSE",
]

# EmpatheticDialogues: the emotion that a conversation is grounded in.
ED_EMOTIONS = (
    "afraid", "angry", "annoyed", "anticipating", "anxious", "apprehensive", "ashamed", "caring",
    "confident", "content", "devastated", "disappointed", "disgusted", "embarrassed", "excited", "faithful",
    "furious", "grateful", "guilty", "hopeful", "impressed", "jealous", "joyful", "lonely",
    "nostalgic", "prepared", "proud", "sad", "sentimental", "surprised", "terrified", "trusting",
)  # fmt: skip

# EmpatheticIntents: what a listener's turn does.
INTENTS = (
    "acknowledging", "agreeing", "consoling", "encouraging", "neutral",
    "questioning", "suggesting", "sympathizing", "wishing",
)  # fmt: skip

DAILY_ACTS = ("inform", "question", "directive", "commissive")
DAILY_EMOTIONS = ("none", "anger", "disgust", "fear", "happiness", "sadness", "surprise")

# EPITOME: the ways in which a response shows empathy.
MECHANISMS = ("emotional_reactions", "interpretations", "explorations")

# ESConv: what a supporter does.
STRATEGIES = (
    "Question", "Restatement or Paraphrasing", "Reflection of feelings", "Self-disclosure",
    "Affirmation and Reassurance", "Providing Suggestions", "Information", "Others",
)  # fmt: skip

GO_EMOTIONS = (
    "admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion", "curiosity", "desire",
    "disappointment", "disapproval", "disgust", "embarrassment", "excitement", "fear", "gratitude", "grief",
    "joy", "love", "nervousness", "optimism", "pride", "realization", "relief", "remorse", "sadness",
    "surprise", "neutral",
)  # fmt: skip

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

# How well a reply fits its place, as blind readers mark it.
MARKS = ("good", "plain", "off")

# What danger a single message shows: the labels of the oldest written cases.
RISKS = ("none", "suicide", "self-harm", "abuse", "harm-to-others")

# What the crisis screen reads in a message with the turns before it: nothing, a doubt, or a clear danger of one kind.
DANGERS = (
    "none", "doubt", "suicide", "self-harm", "overdose", "abuse", "child", "harm-to-others", "eating", "psychosis",
)  # fmt: skip
WHOSE = ("own", "other")  # who is in danger: the person who writes, or somebody they write about
ALL_CLEAR = ("no", "yes")  # whether a message honestly says that there is no danger, or no longer

TOPICS = (
    "alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware", "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles",
    "rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.electronics", "sci.med", "sci.space",
    "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast", "talk.politics.misc",
    "talk.religion.misc",
)  # fmt: skip
