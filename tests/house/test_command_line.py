"""What every command has in common, and the page that lists them."""

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from horae.boot import help_page
from horae.boot.cli import app_of, whole
from horae.boot.manual import page
from horae.boot.output import MEANING, Exit, status_of
from horae.boot.words import WORDS
from horae.domain import errors

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def leaves(group, path=("horae",)):
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            if one.invoke_without_command:
                yield " ".join((*path, name)), one
            yield from leaves(one, (*path, name))
        else:
            yield " ".join((*path, name)), one


COMMANDS = dict(leaves(typer.main.get_command(whole())))
GROUPS = {name for name, one in typer.main.get_command(whole()).commands.items() if hasattr(one, "commands")}


@pytest.mark.parametrize("name", [*WORDS, *help_page.OWN])
def test_the_help_of_a_command_is_the_first_line_of_what_it_says_itself(name):
    """`horae --help` imports no command, so it has a copy of these lines."""
    helped = (
        WORDS[name].help if name in WORDS else help_page.OWN[name],
        typer.main.get_command(whole()).commands[name],
    )
    assert helped[0] == (helped[1].help or "").partition("\n")[0]


def test_the_help_lists_every_command_and_option():
    app = typer.main.get_command(whole())
    shown = {name for name, one in app.commands.items() if not one.hidden}
    assert shown == {*WORDS, *help_page.OWN}
    assert {option for param in app.params for option in param.opts} | {"--help"} == set(help_page.OPTIONS)
    page_of_80 = help_page.text(80)
    assert all(f"\n  {name} " in page_of_80 for name in (*shown, *help_page.OPTIONS))
    assert max(map(len, page_of_80.splitlines())) <= 80


def test_the_page_is_what_the_commands_say():
    assert PAGE.read_text() == page(whole()), "write it anew: horae manual > docs/cli.md"


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


def test_a_noun_that_takes_verbs_is_singular():
    assert not [name for name in GROUPS if name.endswith("s")]


def test_the_program_can_teach_a_shell():
    assert {"--install-completion", "--show-completion"} <= {
        name for param in typer.main.get_command(whole()).params for name in param.opts
    }


@pytest.mark.parametrize("word", WORDS)
def test_a_word_alone_is_what_it_is_among_all_others(word):
    alone = dict(leaves(typer.main.get_command(app_of(word))))
    assert {path for path in alone if path.split()[1] == word} == {path for path in COMMANDS if path.split()[1] == word}
    assert any(path.split()[1] == word for path in alone)


def test_a_word_brings_in_its_own_room_only():
    told = "import sys; from horae.boot.cli import app_of; app_of('node'); print('fastapi' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False", "a node has no doors"
