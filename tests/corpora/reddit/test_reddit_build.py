"""Building a corpus from dumps: the rules of PEC's section 3, on one engine, against a slow transcription."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from made_up_dump import comment, made_up_reddit, post, write
from transcription import transcribe

from allears.conversation import Conversation, Role
from allears.corpora import corpus, read
from allears.corpora.files import Source, lines
from allears.corpora.reddit.build import BuildReport, build
from allears.corpora.reddit.options import Options
from allears.errors import AllearsError

POST = post("post", "ann", "My dog came home", "after a week")
COMMENTS = [
    comment("a", "bob", "t3_post", "I am so glad for you!"),
    comment("b", "ann", "t1_a", "Thank you so much"),
    comment("c", "bob", "t1_b", "How is the [dog](http://x.y) now? http://z.w"),
    comment("d", "cat", "t1_b", "nice dog, nice day"),
    comment("e", "[deleted]", "t1_b", "gone and lost"),
    comment("f", "dan", "t3_post", "good " * 31),
    comment(
        "h1", "bob", "t1_else", "I have two old dogs at home. You should too. I like tea.", subreddit="dogs"
    ),
    comment("h2", "dan", "t1_else", "I work in a small bakery."),
    comment("h3", "ann", "t1_else", "I sing in the old church."),
]


def built(
    folder: Path, comments: list[Any], posts: list[Any], **choices: Any
) -> tuple[BuildReport, dict[str, Conversation]]:
    choices = {"hash_authors": False, "orphans": "keep"} | choices
    options = Options(
        comments=(write(folder / "RC.zst", comments),),
        submissions=(write(folder / "RS.zst", posts),),
        out=folder / "out",
        **choices,
    )
    return build(options), by_id(options.out)


def by_id(out: Path) -> dict[str, Conversation]:
    return {talk.id: talk for talk in read(out / "reddit.jsonl.gz", "all", out)}


def plain(talks: dict[str, Conversation]) -> dict[str, tuple[Any, ...]]:
    return {
        key: (talk.split, talk.labels["subreddit"], tuple((turn.author, turn.text) for turn in talk.turns))
        for key, talk in talks.items()
    }


def personas(talks: dict[str, Conversation]) -> dict[str, list[str]]:
    return {who: list(persona.texts) for talk in talks.values() for who, persona in talk.personas.items()}


def removed(report: BuildReport) -> dict[str, int]:
    return {rule.name: rule.removed for rule in report.rules}


def test_every_answer_by_somebody_else_becomes_a_conversation_when_all_have_personas(tmp_path: Path):
    report, found = built(tmp_path, COMMENTS, [POST])
    # b is by the first speaker, d has no persona, e is deleted, f is too long, h1 to h3 answer nothing we hold
    assert set(found) == {"t1_a", "t1_c"}
    talk = found["t1_c"]
    assert [turn.text for turn in talk.turns] == [
        "my dog came home after a week",
        "i am so glad for you!",
        "thank you so much",
        "how is the dog now?",
    ]
    assert [turn.speaker for turn in talk.turns] == [Role.SEEKER, Role.SUPPORTER, Role.SEEKER, Role.SUPPORTER]
    # "i am so glad for you!" is bob's answer in a, so it is in none of his personas
    assert personas(found) == {"bob": ["i have two old dogs at home."], "ann": ["i sing in the old church."]}
    assert talk.split == found["t1_a"].split
    assert talk.labels == {"subreddit": "happy"}
    assert removed(report) | {
        "no persona": 1,
        "answer by the first speaker": 1,
        "removed turn": 1,
    } == removed(report)
    assert removed(report)["comment not 2 to 30 words"] == 1
    assert removed(report)["said in a response"] == 1


def test_the_persona_may_be_asked_of_the_respondent_only(tmp_path: Path):
    without_ann = [record for record in COMMENTS if record["id"] != "h3"]
    with pytest.raises(AllearsError, match=r"no conversation is left.*no persona: 3"):
        built(tmp_path, without_ann, [POST])
    _, found = built(tmp_path, without_ann, [POST], persona_of="respondent")
    assert set(found) == {"t1_a", "t1_c"}


def test_only_the_six_most_recent_turns_are_kept_and_the_poster_never_answers(tmp_path: Path):
    chain = [comment("n0", "bob", "t3_post", "so good to hear")]
    for number in range(1, 9):
        who = ("ann", "bob")[number % 2 == 0]
        chain.append(comment(f"n{number}", who, f"t1_n{number - 1}", f"this is answer number {number}"))
    history = [record for record in COMMENTS if record["id"].startswith("h")]
    _, found = built(tmp_path, chain + history, [POST])
    assert set(found) == {"t1_n0", "t1_n2", "t1_n4", "t1_n6", "t1_n8"}
    assert [len(found[f"t1_n{number}"].turns) for number in (0, 2, 4, 6, 8)] == [2, 4, 6, 6, 6]
    assert found["t1_n8"].turns[0].text == "this is answer number 3"


def orphans(*bodies: str, people: str = "ann bob") -> list[dict[str, Any]]:
    """A thread without its post: each comment answers the one before."""
    who = people.split()
    return [
        comment(f"o{number}", who[number % len(who)], f"t1_o{number - 1}" if number else "t3_lost", body)
        for number, body in enumerate(bodies)
    ]


def test_conversations_without_their_post_are_orphans(tmp_path: Path):
    lost = orphans("hello to you all", "that is a lot")
    _, found = built(tmp_path, [*COMMENTS, *lost], [POST])
    assert set(found) == {"t1_a", "t1_c", "t1_o1"}
    report, found = built(tmp_path, [*COMMENTS, *lost], [POST], orphans="drop", overwrite=True)
    assert set(found) == {"t1_a", "t1_c"}
    assert removed(report)["orphan"] == 1
    with pytest.raises(AllearsError, match="--orphans keep"):
        build(Options(comments=(tmp_path / "RC.zst",), out=tmp_path / "other"))


def test_a_comment_may_have_thirty_words_also_where_the_post_is_missing(tmp_path: Path):
    _, found = built(tmp_path, [*COMMENTS, *orphans("good " * 30, "that is a lot")], [POST])
    assert "t1_o1" in found
    report, found = built(tmp_path, [*COMMENTS, *orphans("good " * 31, "so long")], [POST], overwrite=True)
    assert "t1_o1" not in found
    assert removed(report)["comment not 2 to 30 words"] == 2


@pytest.mark.parametrize("unfit", ["good " * 31, "[removed]", "das ist aber nicht gut und ich"])
def test_an_orphan_begins_after_the_last_turn_that_does_not_fit(tmp_path: Path, unfit: str):
    lost = orphans("hello to you all", unfit, "that is a lot", "is it really", people="dan cat ann bob")
    report, found = built(tmp_path, [*COMMENTS, *lost], [POST])
    assert [turn.text for turn in found["t1_o3"].turns] == ["that is a lot", "is it really"]
    assert removed(report)["before an orphan's beginning"] == 2
    # With its post at hand, the same conversation is out: its beginning is known, and breaks a rule.
    lost[0]["parent_id"] = "t3_post"
    _, found = built(tmp_path, [*COMMENTS, *lost], [POST], overwrite=True)
    assert "t1_o0" in found
    assert "t1_o3" not in found


def test_whoever_an_orphan_was_begun_by_before_or_after_the_cut_does_not_answer(tmp_path: Path):
    back = orphans("good " * 31, "that is a lot", "is it really", people="ann bob")
    _, found = built(tmp_path, [*COMMENTS, *back], [POST])
    assert set(found) == {"t1_a", "t1_c"}  # ann wrote the long comment
    back = orphans("good " * 31, "that is a lot", "is it really", "yes it is", people="dan bob ann bob")
    _, found = built(tmp_path, [*COMMENTS, *back], [POST], overwrite=True)
    assert set(found) == {"t1_a", "t1_c", "t1_o2"}  # o3 is by bob, with whom what is left begins


def test_conversations_come_from_the_chosen_subreddits_and_personas_from_everywhere(tmp_path: Path):
    elsewhere = [comment("y", "bob", "t3_post", "so good to hear", subreddit="Cooking")]
    _, found = built(tmp_path, [*COMMENTS, *elsewhere], [POST], subreddits=("happy",))
    assert "t1_y" not in found
    assert personas(found)["bob"] == ["i have two old dogs at home."]  # from r/dogs
    with pytest.raises(AllearsError, match="no conversation is left"):
        built(tmp_path, COMMENTS, [POST], subreddits=("happy",), exclude=("dogs",), overwrite=True)


def test_the_control_group_is_built_beside_and_labelled(tmp_path: Path):
    casual = [comment("z", "dan", "t1_z0", "what a day"), comment("z0", "ann", "t3_no", "hello you there")]
    for record in casual:
        record["subreddit"] = "CasualConversation"
    _, found = built(
        tmp_path, [*COMMENTS, *casual], [POST], subreddits=("happy",), control=("CasualConversation",)
    )
    assert {key: talk.labels["control"] for key, talk in found.items()} == {
        "t1_a": False, "t1_c": False, "t1_z": True,
    }  # fmt: skip
    assert (tmp_path / "out" / "pec" / "casualconversation" / "persona.txt").is_file()


@pytest.mark.parametrize(
    "choices", [{}, {"persona_of": "respondent"}, {"subreddits": ("happy",)}, {"orphans": "drop"}]
)
def test_a_slow_transcription_of_the_rules_gives_the_same_conversations(
    tmp_path: Path, choices: dict[str, Any]
):
    comments, posts = made_up_reddit(900)
    _, found = built(tmp_path, comments, posts, **choices)
    expected, sentences = transcribe(
        tmp_path / "RC.zst",
        tmp_path / "RS.zst",
        persona_of=choices.get("persona_of", "all"),
        keep_orphans=choices.get("orphans") != "drop",
        subreddits=choices.get("subreddits", ()),
    )
    assert len(expected) > 30
    assert plain(found) == expected
    assert personas(found) == sentences


@pytest.mark.corpus
def test_the_transcription_agrees_on_five_thousand_comments_of_the_sample(data_root: Path, tmp_path: Path):
    # Conversations of the sample lie together, so its first lines hold whole ones.
    sample = [
        json.loads(line) for line in islice(lines(Source(data_root / "reddit" / "RC_sample.zst")), 5_000)
    ]
    posts = [json.loads(line) for line in lines(Source(data_root / "reddit" / "RS_sample.zst"))]
    _, found = built(tmp_path, sample, posts, persona_of="respondent")
    expected, sentences = transcribe(tmp_path / "RC.zst", tmp_path / "RS.zst", persona_of="respondent")
    assert len(expected) > 100
    assert plain(found) == expected
    assert personas(found) == sentences


@pytest.mark.corpus
def test_a_genuine_monthly_dump_builds(data_root: Path, tmp_path: Path):
    options = Options(
        comments=(data_root / "reddit" / "RC_2006-01.zst",), out=tmp_path / "out", orphans="keep"
    )
    report = build(options)
    assert report.lines["lines"] == 3_666
    assert report.total > 20


def test_the_outputs_hold_the_same_conversations_in_three_layouts(tmp_path: Path):
    from pyarrow import parquet

    comments, posts = made_up_reddit(600)
    _, found = built(tmp_path, comments, posts, subreddits=("happy", "offmychest"))
    out = tmp_path / "out"
    rows = parquet.read_table(out / "reddit.parquet").to_pylist()
    assert {row["id"]: len(row["turns"]) for row in rows} == {
        key: len(talk.turns) for key, talk in found.items()
    }
    pec = [talk for split in ("train", "valid", "test") for talk in corpus("pec").read(split, out)]
    assert sorted(repr(talk.turns) for talk in pec) == sorted(repr(talk.turns) for talk in found.values())
    assert personas({str(n): talk for n, talk in enumerate(pec)}) == personas(found)
    assert {path.name for path in (out / "pec").iterdir()} == {
        talk.labels["subreddit"] for talk in found.values()
    }


def test_a_thread_keeps_its_split_when_the_dump_grows(tmp_path: Path):
    comments, posts = made_up_reddit(300)
    for record in comments:
        record["link_id"] = record["link_id"] or "t3_p1"
    _, small = built(tmp_path, comments[:200], posts)
    _, large = built(tmp_path, comments, posts, overwrite=True)
    both = set(small) & set(large)
    assert len(both) > 5
    assert all(small[key].split == large[key].split for key in both)


def test_about_eight_one_and_one_tenth_of_the_threads_go_to_each_split(tmp_path: Path):
    posts = [post(f"q{number}", "ann", "one more day") for number in range(600)]
    answers = [
        comment(f"k{number}", "bob", f"t3_q{number}", f"good day number {number}") for number in range(600)
    ]
    report, _ = built(tmp_path, [*answers, *COMMENTS], [*posts, POST])
    assert report.total == 602
    assert 450 < report.conversations["train"] < 510
    assert 35 < report.conversations["valid"] < 90


def test_the_card_tells_what_was_done_and_shows_twenty_examples(tmp_path: Path):
    comments, posts = made_up_reddit(600)
    report, _ = built(tmp_path, comments, posts, hash_authors=True)
    card = (tmp_path / "out" / "card.md").read_text(encoding="utf-8")
    for rule in report.rules:
        assert f"| {rule.unit} | {rule.name} | {rule.removed:,} | {rule.left:,} |" in card
    assert card.count("\n### ") == 20
    for text in ("#Avg.PS", "## Privacy", "keyed hashes", "allears reddit forget"):
        assert text in card
    for picture in ("train.png", "rules.png"):
        assert (tmp_path / "out" / picture).stat().st_size > 5_000
    facts = json.loads((tmp_path / "out" / "counts.json").read_text())
    assert facts["conversations"] == report.conversations


def test_every_count_follows_from_the_one_before(tmp_path: Path):
    comments, posts = made_up_reddit(600)
    report, _ = built(tmp_path, comments, posts)
    before = {"records": len(comments) + len(posts)}
    for rule in report.rules:
        assert before.get(rule.unit, rule.removed + rule.left) == rule.removed + rule.left
        before[rule.unit] = rule.left
    assert before["conversations"] == report.total
    assert {name for name, count in removed(report).items() if count} >= {
        "deleted", "bot", "crosspost", "not English", "no noun or adjective", "repeated record", "circle",
        "removed turn", "post not 2 to 90 words", "comment not 2 to 30 words", "answer by the first speaker",
        "repeated sentence", "said in a response", "no persona",
    }  # fmt: skip


def test_at_most_a_hundred_persona_sentences_a_person_the_earliest(tmp_path: Path):
    many = [
        comment(
            f"m{number}",
            "bob",
            "t1_no",
            f"I bought the red bike number {number}.",
            created_utc=10_000 - number,
        )
        for number in range(130)
    ]
    report, found = built(tmp_path, [*COMMENTS, *many], [POST])
    assert len(personas(found)["bob"]) == 100
    assert personas(found)["bob"][0] == "i bought the red bike number 129."
    assert removed(report)["beyond 100"] == 31


def test_the_same_input_gives_the_same_bytes(tmp_path: Path):
    comments, posts = made_up_reddit(300)
    built(tmp_path, comments, posts)
    first = gzip.decompress((tmp_path / "out" / "reddit.jsonl.gz").read_bytes())
    built(tmp_path, comments[::-1], posts, overwrite=True)
    assert gzip.decompress((tmp_path / "out" / "reddit.jsonl.gz").read_bytes()) == first


def test_an_option_takes_all_the_files_that_the_shell_makes_of_a_star(tmp_path: Path, run):
    comments, posts = made_up_reddit(400)
    months = [str(write(tmp_path / f"RC_{n}.zst", comments[n::2])) for n in range(2)]
    files = [
        "--comments",
        *months,
        "--submissions",
        str(write(tmp_path / "RS_0.zst", posts)),
        "--orphans",
        "keep",
    ]
    answer = run("reddit", "build", *files, "--json", "--out", str(tmp_path / "out"))
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["lines"]["lines"] == len(comments) + len(posts)
