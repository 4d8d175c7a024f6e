"""Expected failures: what the entry point prints in one line, without a traceback."""

from collections.abc import Iterable
from difflib import get_close_matches

FAULTS = (Exception, SystemExit)
"""What the code of a part may raise and nobody else need suffer from: one that ends the process ends its own work."""

INTERRUPTED = 130
"""Exit code of a process that a signal ended in good order."""


class GdeError(Exception):
    """A request that cannot be served as it was made; the message says what to do about it."""

    exit_code = 2


class UnknownName(GdeError):
    """A name that no plugin offers."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        choices = sorted(known)
        near = get_close_matches(name, choices, n=3)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        listed = ", ".join(choices) or "none"
        super().__init__(f"unknown {kind} {name!r}.{meant} Known: {listed}.{hint}")


class ConfigError(GdeError):
    """A configuration value outside what its field takes."""


class MissingExtra(GdeError):
    """A part whose packages are not installed."""

    def __init__(self, part: str, packages: Iterable[str], extra: str) -> None:
        missing = ", ".join(packages)
        super().__init__(f"{part} needs {missing}: pip install 'gde-eval[{extra}]'")


class RunFolderError(GdeError):
    """A run folder that is absent, taken, damaged or from another version."""


class Unavailable(GdeError):
    """A model that answers nobody at the moment, whatever it is asked: its server is gone, or refuses the key."""


class RunFailed(GdeError):
    """Something outside the run's own parts stopped it after it had begun; what was finished is kept."""

    exit_code = 3


class WorkerDied(RunFailed):
    """A worker's process ended in the midst of its work."""

    def __init__(self, death: str) -> None:
        """Take how it ended, e.g. "was killed by SIGKILL"."""
        super().__init__(f"a worker process {death}; what was finished is kept, go on with `gde resume`")
        self.death = death

    def __reduce__(self) -> tuple[type["WorkerDied"], tuple[str]]:
        return WorkerDied, (self.death,)
