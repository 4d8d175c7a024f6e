"""`python -m gde` is the command `gde`."""

from gde.cli import main

main()
