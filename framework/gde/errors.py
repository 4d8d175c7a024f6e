"""Expected failures, which the entry point prints as one line without a traceback."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

FAULTS = (Exception, SystemExit)
"""Exceptions of a part's code that fail the part alone. A part that exits the process
fails like any other.
"""

LONGEST = 200
"""Characters of a name that a message repeats."""

INTERRUPTED = 130
"""Exit code of a process that a signal has interrupted."""


class GdeError(Exception):
    """A request that cannot be served; the message says what to do."""

    exit_code = 2


class UnknownName(GdeError):
    """A name that no plugin offers."""

    def __init__(
        self, kind: str, name: str, known: Iterable[str], hint: str = ""
    ) -> None:
        choices = sorted(known)
        near = get_close_matches(name, choices, n=3)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        listed = ", ".join(choices) or "none"
        got = repr(name[:LONGEST])
        super().__init__(f"unknown {kind} {got}.{meant} Known: {listed}.{hint}")

    @classmethod
    def check(cls, kind: str, names: Iterable[str], known: Collection[str]) -> None:
        """Raise for the first name that is not known."""
        for name in names:
            if name not in known:
                raise cls(kind, name, known)


class ConfigError(GdeError):
    """A configuration value that its field does not take."""


class MissingExtra(GdeError):
    """A part whose packages are not installed."""

    def __init__(self, part: str, packages: Iterable[str], extra: str) -> None:
        missing = ", ".join(packages)
        super().__init__(f"{part} needs {missing}: pip install 'gde-eval[{extra}]'")


@contextmanager
def needing(part: str, package: str, extra: str) -> Iterator[None]:
    """Import what the package of an extra has, for this part.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        yield
    except ModuleNotFoundError:
        raise MissingExtra(part, [package], extra) from None


class RunFolderError(GdeError):
    """A run folder that is absent, taken, damaged or from another version."""


class Unavailable(GdeError):
    """A model that answers no request now: no server, or a refused key.

    Args:
        message: what to do.
        request: whether it may lie in this request alone, e.g. a prompt that makes the
            server fail.
    """

    def __init__(self, message: str, request: bool = False) -> None:
        super().__init__(message, request)
        self.request = request

    def __str__(self) -> str:
        return str(self.args[0])


class CannotReplay(GdeError):
    """An answer of a server whose tokens cannot be reconstructed."""


class RunFailed(GdeError):
    """A run stopped by something outside its parts; finished work is kept."""

    exit_code = 3


class WorkerDied(RunFailed):
    """A worker process that ended during its work."""

    def __init__(self, death: str) -> None:
        """Take the way it ended, e.g. "was killed by SIGKILL"."""
        super().__init__(
            f"a worker process {death}; finished work is kept; resume with `gde resume`"
        )
        self.death = death

    def __reduce__(self) -> tuple[type["WorkerDied"], tuple[str]]:
        return WorkerDied, (self.death,)


def is_interruption(error: BaseException) -> bool:
    """Whether an exception is a KeyboardInterrupt, or was made of one.

    A signal may come anywhere, e.g. while a library is imported, and Python makes a
    RuntimeError of an interrupt in a `__set_name__`.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            return True
        if isinstance(cause, BaseExceptionGroup) and cause.subgroup(KeyboardInterrupt):
            return True
        cause = cause.__cause__
    return False
