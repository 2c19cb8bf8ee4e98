"""The review of our own words before they are said. What it refuses is simply not said.

Refused: encouragement of harm, diagnosis, advice on medicines, a claim to be human or to have lived through something,
a promise of secrecy or of how things will end. Fixed crisis replies are written, not reviewed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ILLNESS = (
    r"(?:clinical(?:ly)? depress(?:ion|ed)|depression|bipolar|schizophreni\w+|psycho(?:sis|tic)|ptsd|adhd|autis\w+|ocd|bpd|"
    r"anorexi[ac]|bulimi[ac]|borderline|narcissis\w+|insomnia|addict(?:ion|ed)?|alcoholi\w+|dementia|burn-?out|"
    r"(?:an?|the) (?:\w+ )?(?:disorder|syndrome|phobia))"
)
_MEDICINE = (
    r"(?:medications?|meds|medicines?|pills?|tablets?|dos(?:e|es|age)|antidepressants?|ssris?|sedatives?|painkillers?|"
    r"sleeping (?:pills?|tablets?)|xanax|prozac|zoloft|valium|lithium|lorazepam|ibuprofen|paracetamol|aspirin|melatonin|"
    r"st\.? john's wort|cbd|\d+ ?(?:mg|milligrams?))"
)
_FAMILY = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|mother|father|mum|mom|dad|parents|son|daughter|children|kids|sister|brother|"
    r"grand\w+|aunt|uncle|family|childhood|boss|dog|cat|ex|therapist|friends?|house|garden)"
)

# Each rule: what it is called in `why`, what it looks like, and the words right before it that turn it round
# ("I can't say I've been there").
_RULES: tuple[tuple[str, str, bool], ...] = (
    (
        "encourages harm",
        r"\b(?:kill|hurt|harm|cut|starve) yourself\b|\bend your (?:own )?life\b"
        r"|\b(?:kill|hit|hurt|punch|slap|poison|stab) (?:him|her|them|back)\b|\bhit (?:him|her|them) back\b"
        r"|\b(?:he|she|they|you) deserves? (?:to (?:die|suffer|be hurt)|worse|the pain)\b|\bbetter off dead\b"
        r"|\b(?:better off|happier|easier) without you\b|\bnobody (?:would|will|'d|'ll) (?:care|miss you|notice) ?(?:if you|that you|when you|$|[.!?])"
        r"|\b(?:get|take) (?:your |some )?revenge\b|\bmake (?:him|her|them) (?:pay|suffer|regret)\b"
        r"|\byou(?:'re| are) (?:so |just |really )?(?:worthless|pathetic|stupid|useless|an idiot|weak|crazy|a (?:burden|loser|failure))\b"
        r"|\b(?:go ahead|just do it|do it)\b(?=.{0,40}\b(?:die|jump|hurt|cut|kill|end it)\b)"
        r"|\b(?:get (?:drunk|high|wasted)|have (?:a few|some) drinks?|drink (?:it|your sorrows) away|a (?:few|couple of) drinks (?:will|would) help)\b",
        True,
    ),
    (
        "diagnoses",
        rf"\byou (?:have|suffer from|are suffering from|may have|might have|must have|probably have|clearly have|'ve got|have got) "
        rf"(?:\w+ ){{0,2}}{_ILLNESS}\b"
        rf"|\b(?:this|that|it|you)(?:'s|'re| is| are| sounds?(?: like)?| looks?(?: like)?) (?:\w+ ){{0,2}}(?:{_ILLNESS})\b"
        rf"|\b(?:sounds|looks|seems) (?:to me )?like (?:\w+ ){{0,2}}{_ILLNESS}\b"
        r"|\byour (?:depression|disorder|bipolar|ptsd|anxiety disorder) (?:is|makes|tells)\b|\bsymptoms? of\b|\bi(?:'d| would)? diagnose\b",
        True,
    ),
    (
        "advises on medicine",
        rf"\b(?:take|try|start|stop|quit|double|skip|increase|raise|reduce|lower|halve|change|mix|swallow)(?: taking)?"
        rf"(?: your| some| the| an?| more| less| up| two| another)* {_MEDICINE}\b"
        rf"|\byou (?:should|could|need to|might|ought to) (?:be on|go on|come off|get off|get some) (?:\w+ )?{_MEDICINE}\b"
        rf"|\b(?:ask|get|tell)(?: for| your doctor (?:for|to prescribe))(?: you)?(?: some)? {_MEDICINE}\b",
        True,
    ),
    (
        "claims to be human",
        r"\b(?:i am|i'm) (?:just |really |only |also |actually )?(?:an? )?(?:human(?: being)?|real (?:person|human)|person like you|"
        r"man|woman|nurse|doctor|therapist|counsellor|counselor|psychologist|psychiatrist|social worker|teacher|student|"
        r"(?:\w+ )?(?:mother|father|mum|mom|dad|parent)|married|divorced|teenager|adult|christian|muslim)\b"
        r"|\bas an? (?:\w+ )?(?:human|person|man|woman|nurse|doctor|therapist|mother|father|mum|mom|dad|parent|teacher)(?: myself)?,? (?:i|my)\b"
        r"|\b(?:i'm|i am) not (?:a|an|just a) (?:robot|bot|machine|program|computer|ai)\b"
        rf"|\bmy (?:own )?{_FAMILY}\b|\bat my (?:age|work|job|school)\b|\bmy (?:own )?(?:life|body|heart|marriage|job|work|youth|grief|experience)\b",
        True,
    ),
    (
        "claims to have lived through it",
        r"\bi(?:'ve| have) (?:\w+ )?(?:been there|been through|gone through|felt (?:that|the same|it|like)|lost|had (?:the same|days|a|my)|"
        r"experienced|struggled|cried|suffered|lived|known (?:that|this))\b"
        r"|\bi (?:went|came) through\b|\bi (?:used to|grew up|remember when|once (?:had|was|felt|lost)|also (?:have|had|feel|felt))\b"
        r"|\bwhen i (?:was|lost|had|went|got|felt|broke|failed)\b"
        r"|\bi (?:feel|felt|am|was) (?:exactly |just )?the same\b|\bsame (?:thing )?happened to me\b|\bme too\b|\bhappened to me\b"
        r"|\bi know (?:exactly )?(?:how|what) (?:you feel|it feels|that feels|you(?:'re| are) (?:feeling|going through)|it's like)\b"
        r"|\bwe(?:'ve| have) all (?:been|felt|had|done)\b|\bi understand exactly\b"
        r"|\bi (?:cried|laughed|slept|ate|dreamt|dreamed|hugged|drank|married|worked|studied|walked|travelled)\b",
        True,
    ),
    (
        "promises secrecy",
        r"\byour secret is safe\b|\bi (?:won't|will not|will never|'ll never|never|would never) tell (?:anyone|anybody|a soul|on you)\b"
        r"|\b(?:this|it) (?:stays|will stay|remains) (?:just )?between us\b|\bnobody (?:else )?(?:will|'ll) (?:ever )?(?:know|read|see|find out)\b"
        r"|\b(?:completely|totally|strictly|100%) (?:confidential|private|anonymous)\b|\bi can keep a secret\b",
        False,
    ),
    (
        "promises how it will end",
        r"\bi (?:can )?(?:promise|guarantee|swear|assure)\b|\beverything(?:'s|'ll| will| is going to| is gonna)(?: turn out| work out| be)? ?(?:\w+ )?"
        r"(?:fine|ok|okay|alright|all right|well|good|better)\b"
        r"|\b(?:it|things|this|you|all|that)(?:'ll| will| is going to| are going to|'re going to|'s going to) (?:all |soon |surely |definitely |certainly |be |get |feel |turn out |work out |just ){1,3}"
        r"(?:fine|ok|okay|alright|all right|better|great|perfect|pass|well|happy|over it|cured|healed|go away|amazing)\b"
        r"|\b(?:he|she|they)(?:'ll| will) (?:definitely |surely |certainly )?(?:come back|forgive you|change|love you|get better|survive|recover)\b"
        r"|\byou(?:'ll| will) (?:definitely|certainly|surely) \w+\b|\btime heals\b|\bit gets better\b|\bi(?:'ll| will) always be (?:here|there)\b"
        r"|\bnothing (?:bad )?(?:will|can) happen\b|\byou(?:'re| are) (?:completely |totally |perfectly )?safe (?:here|with me|now)\b",
        True,
    ),
)
# What takes such words back when it stands shortly before them, in the same clause.
_TAKEN_BACK = re.compile(
    r"(?:\bnot\b|n't\b|\bnever\b|\bno\b|\bwithout\b|\bnobody\b|\bneither\b|\bcannot\b|\bwhether\b|\bif\b|\bor\b|\binstead of\b|\brather than\b|\bstop\b|"
    r"\bdoctor\b|\bpharmacist\b|\bpretend\w*|\b(?:says?|said|told|tells?)\b|\bclaim\w*|\bwish\b|\bhope\b|\bhoping\b|\btempt\w*|\burge\b|\bthink\w*|\bthought\w*|\bafraid\b|\bworr\w*|\bfear\w*|\banything\b|\b(?:do|did|are|have) you\b)"
    r"[^.!?;:]{0,60}$"
)
_COMPILED = tuple((name, re.compile(pattern), negatable) for name, pattern, negatable in _RULES)
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})


@dataclass(frozen=True, slots=True)
class Review:
    """Whether a reply may be said, and if not, why: "diagnoses: it sounds like depression"."""

    ok: bool
    reasons: tuple[str, ...] = ()


def review(text: str) -> Review:
    """The judgement of one reply."""
    plain = " ".join(text.translate(_STRAIGHT).lower().split())
    reasons = tuple(f"{name}: {found}" for name, pattern, negatable in _COMPILED if (found := _found(pattern, plain, negatable)))
    return Review(not reasons, reasons)


def _found(pattern: re.Pattern[str], plain: str, negatable: bool) -> str:
    """The first words that match and are not taken back by what stands before them; empty if there are none."""
    for match in pattern.finditer(plain):
        before = plain[max(0, match.start() - 80) : match.start()]
        if not (negatable and _TAKEN_BACK.search(before)):
            return match[0]
    return ""
