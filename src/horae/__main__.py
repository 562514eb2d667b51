"""The program `horae`, also as `python -m horae`.

`horae --help` is answered here, because it needs no command. Everything else imports the command line first.
"""

import os
import sys
from typing import Final

from horae.boot import help_page

COMPLETION: Final = "_HORAE_COMPLETE"
"""Set by the shell when it asks for completions instead of running the program."""


def main() -> None:
    """The entry point of the `horae` program."""
    if sys.argv[1:] in ([], ["--help"]) and COMPLETION not in os.environ:
        sys.stdout.write(help_page.text(help_page.terminal_width()))
        sys.exit(0 if sys.argv[1:] else help_page.USAGE)
    from horae.boot.cli import main as run_command  # noqa: PLC0415 - it loads Typer, which the help does without

    run_command()


if __name__ == "__main__":
    main()
