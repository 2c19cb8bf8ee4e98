"""The first page and the version."""

from typer.testing import CliRunner

from allears import __version__
from allears.cli import app
from allears.cli.welcome import COMMANDS


def test_without_a_command_the_first_page_is_shown():
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0
    assert all(command in result.stdout for command in COMMANDS)
    assert "no crisis line" in result.stdout


def test_every_command_on_the_first_page_exists():
    for command in COMMANDS:
        words = [word for word in command.split()[1:] if word.islower() and not word.startswith("--")]
        result = CliRunner().invoke(app, [*words[:2], "--help"])
        assert result.exit_code == 0, command


def test_the_version_is_printed():
    assert CliRunner().invoke(app, ["--version"]).stdout == f"allears {__version__}\n"
