"""The fixtures of training tests, shared with the command's."""

from training_fixtures import corpus_root, recipe, recipe_file, tiny_encoder  # noqa: F401
