"""What the page must know before anybody says anything: what there is to choose from, and whom to call in need."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from allears import __version__
from allears.labels import ED_EMOTIONS, ED_GROUP_OF, POLARITY_OF, STRATEGIES
from allears.listener.personas import Preset, case_study, presets
from allears.safety.replies import countries
from allears.serve.help import help_in
from allears.serve.routes import Person, Serving, problems
from allears.serve.routes.compare import LARGEST_ALPHA, MOST_COLUMNS
from allears.serve.settings import LONGEST_MESSAGE
from allears.serve.shapes import LONGEST_OWN_SENTENCE, LONGEST_SENTENCE, LONGEST_TITLE, MOST_OWN_SENTENCES
from allears.serve.voices import ServedVoice

router = APIRouter(prefix="/api", tags=["about"])

# ESConv's strategies, as one would say them to somebody who asks for another.
_STRATEGIES = {
    "Question": ("Ask", "Asks you something, so that you can tell more."),
    "Restatement or Paraphrasing": ("Say it back", "Says back what you said, in other words."),
    "Reflection of feelings": ("Name the feeling", "Puts into words what you may feel."),
    "Self-disclosure": ("Share a thought", "Says what it takes from this itself; it has no life of its own."),
    "Affirmation and Reassurance": (
        "Encourage",
        "Tells you what you are doing well, and that you may feel so.",
    ),
    "Providing Suggestions": ("Suggest something", "Offers something that you could try."),
    "Information": ("Explain", "Tells you something that is known about this."),
    "Others": ("Something else", "Greets, thanks, says goodbye, or simply stays with you."),
}


class VoiceOut(BaseModel):
    name: str = Field(description="What a conversation is given as its voice.", examples=["default"])
    title: str
    description: str
    default: bool
    takes_strategy: bool = Field(description="Whether it can be asked for another strategy.")
    takes_persona: bool = Field(description="Whether it speaks with a persona of its own.")
    takes_alpha: bool = Field(description="Whether PAL's alpha (equation 6) means something to it.")
    shows_words: bool = Field(description="Whether it can show which words matched.")
    leaves_machine: bool = Field(description="Whether what you say is sent elsewhere to be answered.")

    @classmethod
    def of(cls, voice: ServedVoice, *, default: bool) -> VoiceOut:
        return cls(
            name=voice.name,
            title=voice.title,
            description=voice.description,
            default=default,
            takes_strategy=voice.takes_strategy,
            takes_persona=voice.takes_persona,
            takes_alpha=voice.takes_alpha,
            shows_words=voice.shows_words,
            leaves_machine=voice.leaves_machine,
        )


class PresetOut(BaseModel):
    id: str = Field(examples=["gardener"])
    title: str = Field(examples=["A gardener"])
    sentences: list[str] = Field(examples=[["I spend my days in a garden."]])

    @classmethod
    def of(cls, preset: Preset) -> PresetOut:
        return cls(id=preset.id, title=preset.title, sentences=list(preset.sentences))


class CaseStudyOut(BaseModel):
    title: str
    message: str
    personas: list[PresetOut]


class StrategyOut(BaseModel):
    name: str = Field(description="What a message is given as its strategy.", examples=["Question"])
    title: str = Field(examples=["Ask"])
    description: str


class EmotionOut(BaseModel):
    name: str = Field(examples=["sad"])
    polarity: Literal["positive", "negative"]
    group: str = Field(examples=["sad+devastated"])


class LimitsOut(BaseModel):
    message: int = Field(description="Characters of a message.")
    title: int
    persona_sentence: int
    listener_sentence: int
    listener_sentences: int
    columns: int = Field(description="Answers side by side.")
    alpha: float = Field(description="The largest there is.")


class AboutOut(BaseModel):
    version: str
    local: bool = Field(description="Whether only this machine can reach the server.")
    country: str | None = Field(description="Whose help lines are named where nobody says otherwise.")
    limits: LimitsOut
    voices: list[VoiceOut]
    listener_personas: list[PresetOut] = Field(
        description="Personas for the listener itself, to choose from."
    )
    case_study: CaseStudyOut = Field(
        description="One message, three personas: the PEC paper's, in our words."
    )
    strategies: list[StrategyOut]
    emotions: list[EmotionOut]


class HelpLineOut(BaseModel):
    name: str = Field(examples=["Samaritans"])
    reach: str = Field(examples=["call 116 123"])
    hours: str
    source: str


class CountryOut(BaseModel):
    code: str = Field(examples=["GB"])
    name: str = Field(examples=["the United Kingdom"])


class HelpOut(BaseModel):
    country: str | None = Field(description="Null: lines that are not of a country that was named.")
    place: str = Field(examples=["In the United Kingdom"])
    emergency: str = Field(examples=["999"])
    crisis: list[HelpLineOut]
    abuse: list[HelpLineOut]
    countries: list[CountryOut]


@router.get("/about", responses=problems())
async def about(serving: Serving, person: Person) -> AboutOut:
    """Voices, personas, strategies and emotions there are, and how much of everything is taken."""
    default = serving.voices.default
    study = case_study()
    return AboutOut(
        version=__version__,
        local=serving.settings.local,
        country=help_in(None, default.country).country,
        limits=LimitsOut(
            message=LONGEST_MESSAGE,
            title=LONGEST_TITLE,
            persona_sentence=LONGEST_SENTENCE,
            listener_sentence=LONGEST_OWN_SENTENCE,
            listener_sentences=MOST_OWN_SENTENCES,
            columns=MOST_COLUMNS,
            alpha=LARGEST_ALPHA,
        ),
        voices=[VoiceOut.of(voice, default=voice is default) for voice in serving.voices],
        listener_personas=[PresetOut.of(preset) for preset in presets()],
        case_study=CaseStudyOut(
            title=study.title,
            message=study.message,
            personas=[PresetOut.of(preset) for preset in study.personas],
        ),
        strategies=[
            StrategyOut(name=name, title=_STRATEGIES[name][0], description=_STRATEGIES[name][1])
            for name in STRATEGIES
        ],
        emotions=[
            EmotionOut(name=name, polarity=_polarity(name), group=ED_GROUP_OF[name]) for name in ED_EMOTIONS
        ],
    )


@router.get("/help", responses={422: problems()[422]})
async def whom_to_call(
    serving: Serving,
    country: Annotated[
        str | None, Query(max_length=2, description="An ISO code; any is answered.", examples=["GB"])
    ] = None,
) -> HelpOut:
    """Emergency numbers and help lines. No token is needed, and there is always an answer."""
    found: dict[str, Any] = help_in(country, serving.voices.default.country).to_dict()
    listed = [CountryOut(code=code, name=name) for code, name in countries().items()]
    return HelpOut(**found, countries=listed)


def _polarity(emotion: str) -> Literal["positive", "negative"]:
    return "positive" if POLARITY_OF[emotion] == "positive" else "negative"
