"""`python -m horae`: the same as `horae`."""

from horae.boot.cli import main

main()
