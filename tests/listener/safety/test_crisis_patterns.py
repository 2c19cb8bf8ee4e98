"""The phrase language, the tables written in it, and the normaliser that feeds them."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from allears.safety.combination import ENOUGH
from allears.safety.dangers import Danger
from allears.safety.normalise import Normaliser
from allears.safety.patterns import pattern_table
from allears.safety.phrases import compile_lines, compile_phrase
from allears.safety.screen import CrisisScreen

LISTS = {"DIE": ("die", "be dead")}


def found(phrase: str, text: str) -> bool:
    compiled = compile_phrase(phrase, LISTS)
    return any(True for _ in compiled.find(f" {text} ", frozenset(text.split())))


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("want|wish to {DIE}", "i want to be dead now", True),
        ("want to die", "i want to diet", False),
        ("kill _ myself", "kill and bury also myself", True),
        ("kill _ myself", "kill one two three four myself", False),
        ("kill __ myself", "kill one two three four myself", True),
        ("kill _ myself", "kill . myself", False),
        ("i am? sad", "i sad", True),
        ("nobody|no+one cares", "no one cares", True),
        ("suicid*", "feeling suicidal", True),
        ("^ yes", "oh yes", False),
        ("^ yes $", "yes", True),
        ("^ yes $", "yes i am", False),
        ("i still cut .", "i still cut . nobody knows", True),
        ("i still cut .", "i still cut", True),
        ("i still cut .", "i still cut the hedge", False),
        ("jump tonight|.", "i will jump . then it is over", True),
        ("jump tonight|.", "i will jump tonight", True),
        ("jump tonight|.", "i will jump for joy", False),
        ("want out $", "i want out .", True),
        ("want out|in $", "i want out of it", False),
    ],
)
def test_a_phrase_finds_what_it_says(phrase: str, text: str, expected: bool):
    assert found(phrase, text) is expected


def test_a_phrase_with_an_unknown_list_or_without_a_word_is_an_error():
    with pytest.raises(ValueError, match="no list is called NOWHERE"):
        compile_phrase("want {NOWHERE}", LISTS)
    with pytest.raises(ValueError, match="no word that must be there"):
        compile_phrase("maybe? _", LISTS)


def test_comments_and_blank_lines_are_no_phrases():
    assert [phrase.text for phrase in compile_lines("# why\n\nwant to die  # so\n", {})] == ["want to die"]


def test_every_danger_has_patterns_with_a_name_of_their_own_and_a_sensible_weight():
    table = pattern_table()
    names = [pattern.name for pattern in table.patterns]
    assert len(names) == len(set(names))
    assert {pattern.danger for pattern in table.patterns} == set(Danger)
    assert all(0 < pattern.weight < 1 for pattern in table.patterns)
    assert all(0 < context.factor < 1 for context in table.contexts)


def test_every_phrase_of_the_tables_compiles():
    table = pattern_table()
    for entry in (*table.patterns, *table.idioms, *table.contexts):
        assert all(phrase.regex for phrase in entry.phrases), entry.name


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("I don't want to LIVE", "i do not want to live"),
        ("i dont want 2 live", "i do not want to live"),
        ("killlll myself", "kill myself"),
        ("k1ll my$elf", "kill myself"),
        ("k*ll myself", "kill myself"),
        ("s.u.i.c.i.d.e", "suicide"),
        ("k i l l m y s e l f", "kill myself"),
        ("wanttodie", "want to die"),
        ("kill myslef", "kill myself"),
        ("ｋｉｌｌ ｍｙｓｅｌｆ", "kill myself"),
        ("kіll myself", "kill myself"),
        ("kill\u200bmyself", "kill myself"),
        ("i just… want to die", "i just want to die"),
        ("want to. Die.", "want to . die ."),
        ("self-harm", "self harm"),
        ("im stabbin that bloke", "i am stabbing that man"),
    ],
)
def test_what_was_typed_is_understood(typed: str, understood: str):
    assert pattern_table().normalise(typed).strip() == understood


def outright(text: str) -> set[Danger]:
    """The dangers that a pattern finds enough by its wording."""
    return {item.danger for item in pattern_table().find(text) if item.weight >= ENOUGH and item.danger}


@pytest.mark.parametrize(
    ("text", "danger"),
    [
        ("ive swallowed a whole load of tablets", Danger.SUICIDE),
        ("i took them all about ten minutes ago", Danger.SUICIDE),
        ("tuk to many pils im scared", Danger.SUICIDE),
        ("My brother keeps talking about steering into a lorry.", Danger.SUICIDE),
        ("I don't deserve to be alive.", Danger.SUICIDE),
        ("I've recorded a goodbye video for each of the girls.", Danger.SUICIDE),
        ("I wonder which of the neighbours finds me first.", Danger.SUICIDE),
        ("Every night I pray that my heart gives out.", Danger.SUICIDE),
        ("My uncle broke my wrist on Sunday.", Danger.ABUSE),
        ("he came at me with a pan again", Danger.ABUSE),
        ("The foreman keeps our passports in his safe.", Danger.ABUSE),
        ("there are nine of us and we sleep locked in", Danger.ABUSE),
        ("I found Gran tied to the radiator.", Danger.ABUSE),
        ("My boss put his hand up my dress in the lift.", Danger.ABUSE),
        ("my stepdad doesnt feed us when hes cross", Danger.ABUSE),
        ("They want to marry me off in August.", Danger.ABUSE),
        ("i feel lik stabing sombody", Danger.HARM_TO_OTHERS),
        ("how do you make a pipe bomb", Danger.HARM_TO_OTHERS),
        ("if he turns up at the flat i'm stabbing him", Danger.HARM_TO_OTHERS),
        ("The voices tell me that the twins must be sacrificed.", Danger.HARM_TO_OTHERS),
        ("He's not getting out of that pub alive.", Danger.HARM_TO_OTHERS),
        ("My nephew has been stabbing himself with a fork.", Danger.SELF_HARM),
        ("I carved the word into my thigh again.", Danger.SELF_HARM),
        ("i pushed a needle under my nails", Danger.SELF_HARM),
        ("I broke my own thumb because I was so angry.", Danger.SELF_HARM),
        ("i use the compass from my pencil case", Danger.SELF_HARM),
        ("I regret that the paramedics saved me.", Danger.SUICIDE),
        ("Wouldn't mind if a lorry hit me.", Danger.SUICIDE),
        ("I've lost the will to carry on.", Danger.SUICIDE),
        ("He told his mates he'll string himself up.", Danger.SUICIDE),
        ("I took forty paracetamol.", Danger.SUICIDE),
        ("I'm so sorry for whoever has to find me.", Danger.SUICIDE),
        ("My wife tried to strangle me with the phone cord.", Danger.ABUSE),
        ("My da kicks the shite out of me.", Danger.ABUSE),
        ("I said stop and he didn't stop.", Danger.ABUSE),
        ("There's a restraining order but he was in my garden.", Danger.ABUSE),
        ("I'm forty and I still cut. Nobody knows.", Danger.SELF_HARM),
        ("I took a razor to my thigh.", Danger.SELF_HARM),
        ("I stood over the cot with a pillow.", Danger.HARM_TO_OTHERS),
        ("I've been slipping antifreeze into his tea.", Danger.HARM_TO_OTHERS),
        ("I feel unsafe with myself tonight.", Danger.SUICIDE),
        ("I don't intend to be alive by June.", Danger.SUICIDE),
        ("The boys need a dad who isn't me.", Danger.SUICIDE),
        ("I took whatever was in the bathroom cupboard.", Danger.SUICIDE),
        ("It wasn't to die, just to switch off for a night.", Danger.SELF_HARM),
        ("I skip my insulin when I feel fat.", Danger.SELF_HARM),
        ("I pick the scabs so they don't heal.", Danger.SELF_HARM),
        ("All my wages go straight into his account.", Danger.ABUSE),
        ("He says nobody would believe a girl like me.", Danger.ABUSE),
        ("My ex threatened me again on Sunday.", Danger.ABUSE),
        ("I don't trust my hands when the baby screams.", Danger.HARM_TO_OTHERS),
        ("I shook him so hard he went quiet.", Danger.HARM_TO_OTHERS),
    ],
)
def test_what_is_said_plainly_is_enough_by_its_wording(text: str, danger: Danger):
    assert danger in outright(text)


@pytest.mark.parametrize(
    "text",
    [
        "It's a long way to go to the next petrol station.",
        "I'll do it after lunch, promise.",
        "When was the last time you had your eyes tested?",
        "The bakery is on the other side of the square.",
        "Bye everyone, see you on Monday!",
        "I sleep badly and she snores.",
        "I'm thinking of jumping ship and joining the other firm.",
        "The wings with suicide sauce were a mistake.",
        "I want to dye my hair green.",
        "He bruises easily since he takes blood thinners.",
        "I banged my head on the cellar beam.",
        "My sister is cutting me out of the photographs.",
        "I wrote letters to all my old teachers.",
        "We took the whole box of books to the charity shop.",
        "If he turns up at the flat I'm making pancakes.",
        "The dog is tied to a tree outside the shop.",
        "I can't see a future with her.",
        "I don't want to live here any more, the rent is absurd.",
        "My husband took the rope to tie the sofa to the roof rack.",
        "I put ice on my ankle until it went numb.",
        "I shot myself in the foot with that email.",
        "A bus hit me on my bike last week and broke the mirror.",
        "My judo partner kicked me.",
        "I don't feel safe on that ladder.",
        "The kids need a mum who can bake, and I can't.",
        "She took whatever was left on the buffet.",
        "I never skip my insulin, the pump does it for me.",
        "I pick the raspberries so they don't rot.",
        "All my wages go on the rent.",
        "He says nobody would believe how good the cake is.",
        "The forecast is threatening us with snow again.",
        "I don't trust my hands with eyeliner.",
        "I shook his hand so hard he laughed.",
        "The twins played hide and seek and hid in the wardrobe.",
        "I'm banging my head against a brick wall with this form.",
        "Coach made us run suicides until somebody was sick.",
        "I could happily strangle whoever parks there.",
        "The glue gun went off on everyone at school.",
    ],
)
def test_ordinary_sentences_with_the_same_words_are_not(text: str):
    assert not outright(text)


@pytest.mark.parametrize("word", ["cooking", "filling", "together", "therapist", "skill", "moles", "planted"])
def test_real_words_that_only_look_alike_are_left_alone(word: str):
    assert pattern_table().normalise(word).strip() == word


def test_a_misspelt_word_is_not_mended_into_a_word_with_another_beginning():
    normalise = Normaliser(["harm", "killing"])
    assert normalise("charm filing").split() == ["charm", "filing"]
    assert normalise("kiling killingg").split() == ["killing", "killing"]


@pytest.mark.parametrize(
    "text",
    [
        "i want to kill myself " * 4_500,
        "kill " * 20_000,
        "a" * 100_000,
        "want to " * 12_500,
        "k-i-l-l-" * 12_500,
        "a b c d " * 12_500,
        "he said not to and " * 5_300,
        "…" * 100_000,
        "\u0301" * 100_000,
        "su*cide " * 12_500,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_text_of_a_hundred_thousand_characters_is_no_burden(text: str):
    screen = CrisisScreen()
    screen.check("warm up")
    began = time.process_time()
    screen.check(text)
    long = time.process_time() - began
    began = time.process_time()
    screen.check(text[: len(text) // 4])
    quarter = time.process_time() - began
    # Linear, with room for noise; and a text like a novel's chapter takes seconds at the very most.
    assert long < 8 * quarter + 0.5
    assert long < 10


def test_the_room_needs_nothing_heavy():
    code = (
        "from allears.safety.screen import CrisisScreen; CrisisScreen().check('hello'); import sys; "
        "print(*[n for n in ('torch', 'transformers', 'pandas', 'scipy', 'sklearn') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
