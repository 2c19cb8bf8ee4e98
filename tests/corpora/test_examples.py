from __future__ import annotations

from pathlib import Path

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora import PAPER_RULES, ExampleRule, examples, read
from made_up_corpora import ED, ESCONV, PEC


def talk(turns: str, **more: object) -> Conversation:
    """Turns written as a string: "s" a seeker's, "S" a supporter's; the text is the turn's number."""
    roles = {"s": Role.SEEKER, "S": Role.SUPPORTER}
    return Conversation(
        id="talk",
        turns=tuple(Turn(roles[letter], str(number)) for number, letter in enumerate(turns, 1)),
        **more,  # type: ignore[arg-type]
    )


def cut(conversation: Conversation, rule: ExampleRule) -> list[tuple[str, str]]:
    return [
        (" ".join(turn.text for turn in example.context), example.response.text)
        for example in examples([conversation], rule)
    ]


def test_ed_takes_every_supporter_turn_with_the_four_turns_before_it():
    assert cut(talk("sSsSsSsS"), PAPER_RULES["ed"]) == [
        ("1", "2"),
        ("1 2 3", "4"),
        ("2 3 4 5", "6"),
        ("4 5 6 7", "8"),
    ]


def test_ed_examples_carry_the_emotion_and_the_conversation(tmp_path: Path):
    found = list(examples(read("ed", "train", ED.write(tmp_path)), PAPER_RULES["ed"]))
    assert len(found) == 4
    assert (found[0].labels, found[0].conversation_id) == ({"emotion": "proud"}, "hit:0_conv:1")


def test_pec_takes_the_last_turn_only_with_the_six_turns_before_it():
    assert cut(talk("sSsSsSsS"), PAPER_RULES["pec"]) == [("2 3 4 5 6 7", "8")]
    assert cut(talk("sS"), PAPER_RULES["pec"]) == [("1", "2")]


def test_pec_gives_the_persona_of_the_author_who_answers(tmp_path: Path):
    first, second, third = examples(read("pec", "train", PEC.write(tmp_path)), PAPER_RULES["pec"])
    assert first.persona.texts == ("i teach .", "i have 2 cats .")
    assert second.persona.texts == ()  # cem has none, and ann's is not cem's
    assert third.persona.texts == ("i hum .",)


def test_a_persona_kept_by_role_is_found_as_well():
    rule = ExampleRule(context_turns=None, respondent=None)
    conversation = talk("sS", personas={"supporter": Persona((PersonaSentence("i bake"),))})
    (example,) = examples([conversation], rule)
    assert example.persona.texts == ("i bake",)


def test_a_first_turn_answers_nothing_and_nobody_answers_alone():
    assert cut(talk("Ss"), ExampleRule()) == []
    assert cut(talk("S"), ExampleRule(last_only=True)) == []
    assert cut(Conversation(id="empty", turns=()), ExampleRule(respondent=None)) == []


def test_without_a_respondent_every_later_turn_is_a_response_and_none_keeps_the_whole_context():
    assert cut(talk("sSsS"), ExampleRule(context_turns=None, respondent=None)) == [
        ("1", "2"),
        ("1 2", "3"),
        ("1 2 3", "4"),
    ]


def test_esconv_messages_stay_apart_unless_merged(tmp_path: Path):
    first = next(read("esconv", "train", ESCONV.write(tmp_path)))
    apart = list(examples([first], PAPER_RULES["esconv"]))
    assert [example.response.text for example in apart] == [
        "Oh no.",
        "Where was it?",
        "Call the lost property office.",
    ]
    assert [example.labels["strategies"] for example in apart] == [
        ["Reflection of feelings"],
        ["Question"],
        ["Providing Suggestions"],
    ]


def test_esconv_merged_keeps_the_strategy_of_every_message(tmp_path: Path):
    first = next(read("esconv", "train", ESCONV.write(tmp_path)))
    one, two = examples([first], ExampleRule(context_turns=6, merge=True))
    assert one.response == Turn(Role.SUPPORTER, "Oh no. Where was it?", strategy="Reflection of feelings")
    assert one.labels["strategies"] == ["Reflection of feelings", "Question"]
    assert [turn.text for turn in two.context] == [
        "I lost my umbrella.",
        "Oh no. Where was it?",
        "On the train. It was red.",
    ]
    assert two.context[-1].feedback == 5
    assert two.labels == {
        "emotion": "sadness",
        "problem": "lost umbrella",
        "strategies": ["Providing Suggestions"],
    }


def test_merging_keeps_people_of_one_role_apart():
    turns = tuple(Turn(Role.SEEKER, text, author) for text, author in (("a", "x"), ("b", "x"), ("c", "y")))
    conversation = Conversation(id="t", turns=(*turns, Turn(Role.SUPPORTER, "d", "z")))
    (example,) = examples([conversation], ExampleRule(merge=True))
    assert [turn.text for turn in example.context] == ["a b", "c"]
