"""`python -m navi` is the command `navi`."""

from navi.cli.navi.main import main

main()
