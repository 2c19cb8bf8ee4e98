"""Recipes: what they accept, and what they say when they do not."""

import pytest

from allears.errors import AllearsError
from allears.training.recipe import read_recipe
from allears.training.tasks import make_task


def test_changes_on_the_command_line_replace_and_add_keys(recipe):
    changed = recipe("training.batch=4", "model.options={pooling='cls'}", "data.valid_split=test")
    assert changed.training.batch == 4
    assert changed.tables["model"]["options"] == {"pooling": "cls"}
    assert changed.tables["data"]["valid_split"] == "test"  # an unquoted word is a text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("training.bach=4", "unknown key training.bach; did you mean 'batch'?"),
        ("training.batch=many", "training.batch must be of type int, got 'many'"),
        ("training.batch=1.5", "training.batch must be of type int"),
        ("data.train=ed", "data.train must be a list"),
        ("nothing", "--set takes key=value"),
        ("data.train.more=1", "'train' is not a table"),
    ],
)
def test_a_wrong_key_or_value_is_one_sentence(recipe, tmp_path, change, message):
    with pytest.raises(AllearsError, match=r"recipe|--set") as error:
        make_task(recipe(change), tmp_path / "run")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("model.name=gpt", "unknown selection model 'gpt'"),
        ("model.encoder=nowhere/at-all/x", "the encoder 'nowhere/at-all/x' cannot be loaded"),
        ("model.options={poling='cls'}", "model 'bi_encoder'"),
        ("model.encoder=", "[model] needs `encoder`"),
        ("data.train=['edd']", "unknown corpus 'edd'"),
        ("data.root=/no/such/folder", "no such file or folder"),
        ("data.candidates=1000", "1000"),
        ("tables.x=1", "unknown key tables"),
        ("negatives.mine_with=/no/run", "no model.json here"),
    ],
)
def test_what_a_task_cannot_use_is_one_sentence(recipe, tmp_path, change, message):
    changes = [change, "negatives.per_example=2"] if "mine_with" in change else [change]
    with pytest.raises(AllearsError) as error:
        make_task(recipe(*changes), tmp_path / "run").evaluate("cpu")
    assert message in str(error.value)


def test_a_missing_or_broken_file_is_named(tmp_path):
    with pytest.raises(AllearsError, match=r"nowhere\.toml: no such recipe"):
        read_recipe(tmp_path / "nowhere.toml")
    (tmp_path / "broken.toml").write_text("task = ")
    with pytest.raises(AllearsError, match=r"broken\.toml: not a TOML file"):
        read_recipe(tmp_path / "broken.toml")
    (tmp_path / "empty.toml").write_text("")
    with pytest.raises(AllearsError, match="needs a line task"):
        read_recipe(tmp_path / "empty.toml")
    (tmp_path / "other.toml").write_text('task = "cooking"')
    with pytest.raises(AllearsError, match="unknown task 'cooking'"):
        make_task(read_recipe(tmp_path / "other.toml"), tmp_path)
