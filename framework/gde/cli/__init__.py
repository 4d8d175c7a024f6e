"""The command line: parses and prints, decides nothing. One file a command."""

from gde.cli.main import main as main
