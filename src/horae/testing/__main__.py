"""`python -m horae.testing`: the server of `horae_client.testing`. It takes commands from its standard input.

Every message is one line of JSON. While a command runs, the server may ask what a target answers or what a worker does.
"""

import os
import sys

from horae.testing.commands import CommandServer

if __name__ == "__main__":
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # lines of the log must not stand among the answers
    CommandServer(sys.stdin.buffer, answers).serve()
