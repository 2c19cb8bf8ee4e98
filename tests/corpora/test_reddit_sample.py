"""The small Reddit builder: PEC's rules on a made-up thread."""

import json

import pytest
from typer.testing import CliRunner

from allears.cli import app
from allears.conversation import Role
from allears.corpora import read
from allears.corpora.files import CorpusError
from allears.corpora.reddit.sample import build, clean, persona_sentences, split_of


def comment(key, author, parent, body, **more):
    record = {"id": key, "author": author, "parent_id": parent, "link_id": "t3_post", "body": body}
    return record | {"subreddit": "Happy"} | more


POST = {
    "id": "post",
    "author": "ann",
    "subreddit": "happy",
    "title": "My dog came home",
    "selftext": "after a week",
}
COMMENTS = [
    comment("a", "bob", "t3_post", "I am so glad for you!"),
    comment("b", "ann", "t1_a", "Thank you so much"),
    comment("c", "bob", "t1_b", "How is the [dog](http://x.y) now? http://z.w"),
    comment("d", "cat", "t1_b", "nice dog, nice day"),
    comment("e", "[deleted]", "t1_b", "gone and lost"),
    comment("f", "dan", "t3_post", "word " * 31),
    comment("h1", "bob", "t1_elsewhere", "I have two old dogs at home. You should too. I like tea."),
    comment("h2", "dan", "t1_elsewhere", "I work in a small bakery."),
]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "RC.jsonl").write_text("\n".join(map(json.dumps, COMMENTS)))
    (tmp_path / "RS.jsonl").write_text(json.dumps(POST))
    return tmp_path / "RC.jsonl", tmp_path / "RS.jsonl"


def test_every_reply_by_somebody_else_with_a_persona_becomes_a_conversation(files):
    found = {c.id: c for c in build(*files)}
    # b is by the first speaker, d has no persona, e is deleted, f is too long, h1 and h2 answer nothing we hold
    assert set(found) == {"t1_a", "t1_c"}
    talk = found["t1_c"]
    assert [turn.text for turn in talk.turns] == [
        "my dog came home after a week",
        "i am so glad for you!",
        "thank you so much",
        "how is the dog now?",
    ]
    assert [turn.speaker for turn in talk.turns] == [Role.SEEKER, Role.SUPPORTER, Role.SEEKER, Role.SUPPORTER]
    assert talk.personas["bob"].texts == ("i am so glad for you!", "i have two old dogs at home.")
    assert found["t1_a"].personas["bob"].texts == ("i have two old dogs at home.",)  # not the answer itself
    assert talk.split == found["t1_a"].split == split_of("t3_post")
    assert "t1_d" in {c.id for c in build(*files, need_persona=False)}


def test_persona_sentences_begin_with_i_and_have_4_to_20_words():
    texts = ["I'm a nurse in town. I like tea. We like long walks a lot. I " + "really " * 20 + "do"]
    assert persona_sentences(texts) == ["i'm a nurse in town."]


def test_text_is_cleaned_of_links_quotes_and_symbols():
    assert clean("> quoted line\nSee [this](http://a.b) ★ https://c.d/e it’s GOOD*") == "see this it's good"


def test_threads_keep_their_split():
    shares = [split_of(f"t3_{number}") for number in range(2000)]
    assert 0.77 < shares.count("train") / 2000 < 0.83
    assert split_of("t3_1") == split_of("t3_1")


def test_the_command_writes_what_the_jsonl_reader_reads(files, tmp_path):
    out = tmp_path / "reddit.jsonl.gz"
    result = CliRunner().invoke(
        app, ["reddit", "sample", str(files[0]), "--submissions", str(files[1]), "--out", str(out)]
    )
    assert result.exit_code == 0
    assert "2 conversations" in result.stdout
    assert {c.id for c in read(out, "all", tmp_path)} == {"t1_a", "t1_c"}


def test_a_broken_record_is_named_by_file_and_line(files):
    files[0].write_text('{"id": "a"}\n')
    with pytest.raises(CorpusError, match=r"RC\.jsonl, line 1: not a Reddit record"):
        list(build(files[0]))
