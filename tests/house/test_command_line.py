"""What every command has in common, and the page that lists them."""

from pathlib import Path

import pytest
import typer

from horae.boot.cli import app
from horae.boot.manual import page
from horae.boot.telling import MEANING, Exit, status_of
from horae.domain import errors

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def leaves(group, path=("horae",)):
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from leaves(one, (*path, name))
        else:
            yield " ".join((*path, name)), one


COMMANDS = dict(leaves(typer.main.get_command(app)))


def test_the_page_is_what_the_commands_say():
    assert PAGE.read_text() == page(app), "write it anew: horae manual > docs/cli.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_answers_in_json_when_asked_and_says_what_it_does(name):
    command = COMMANDS[name]
    assert any("--json" in param.opts for param in command.params), "make its Typer a `Verbs`"
    assert command.help
    assert all(param.help for param in command.params if param.opts[0].startswith("--") and param.name != "limit"), name


def test_every_exit_code_has_a_meaning_and_every_refusal_an_exit_code():
    assert set(MEANING) == set(Exit)
    assert status_of(errors.NotFound()) is Exit.NOT_FOUND
    assert status_of(errors.NameTaken()) is Exit.CONFLICT
    assert status_of(errors.ShardClosed()) is Exit.UNAVAILABLE
    assert status_of(errors.RetryLimited()) is Exit.UNAVAILABLE
    assert status_of(errors.InvalidSchedule()) is Exit.REFUSED


def test_the_program_can_teach_a_shell():
    assert {"--install-completion", "--show-completion"} <= {
        name for param in typer.main.get_command(app).params for name in param.opts
    }
