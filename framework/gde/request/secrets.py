"""Keys: whom they may be sent to, and that they are written nowhere."""

import json
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from gde.data.completion import Completion
from gde.data.result import Failure
from gde.errors import GdeError

MASK = "***"
NOTED = "secrets"
"""The journal's note of the environment variables that were read, for processes that did not read them."""
SHORTEST = 8
"""Characters of what is kept out of the record: no key is shorter, and less would be found in what is none."""


class Secrets:
    """What the parts of one run were given to authenticate themselves."""

    def __init__(self, keys_to: Collection[str] | None = None) -> None:
        """Take the hosts that whoever called has named; None where the plan itself is that person's, and not what
        stands in a folder, which may come from anyone."""
        self.keys_to = keys_to
        self._known: set[str] = set()

    def give(self, variable: str, url: str) -> str:
        """What an environment variable holds, for requests to a URL; empty where it holds nothing.

        Raises:
            GdeError: the plan comes from a folder, and whoever called did not name the host.
        """
        secret, host = os.environ.get(variable, ""), host_of(url)
        if not secret:
            return ""
        if self.keys_to is not None and host not in self.keys_to:
            raise GdeError(
                f"the run folder would have what {variable} holds sent to {host}: if you want that, name the host with"
                f" --key-to {host} (in Python: keys_to=[{host!r}])"
            )
        self.keep_out([variable])
        return secret

    def keep_out(self, variables: Iterable[str]) -> None:
        """Keep what environment variables hold out of the record."""
        for secret in (os.environ.get(variable, "") for variable in variables):
            self._keep_out(secret)

    def _keep_out(self, secret: str) -> None:
        if len(secret) >= SHORTEST:
            escaped = json.dumps(secret)[1:-1]
            self._known |= {secret, escaped, json.dumps(escaped)[1:-1]}

    def scrubbed(self, text: str) -> str:
        """The text with a mask in the place of every secret."""
        for secret in self._known:
            text = text.replace(secret, MASK)
        return text

    def scrubbed_row(self, values: Sequence[Any]) -> Sequence[Any]:
        """The values of a row, its texts without secrets."""
        if not self._known:
            return values
        return [self.scrubbed(value) if isinstance(value, str) else value for value in values]

    def scrubbed_answer(self, answer: Completion) -> Completion:
        """What a server said, before anybody cuts it to pieces that would no longer be found."""
        if not self._known:
            return answer
        reasoning = None if answer.reasoning is None else self.scrubbed(answer.reasoning)
        name = self.scrubbed(answer.answered_by)
        prompt = tuple(replace(each, content=self.scrubbed(each.content)) for each in answer.prompt)
        return replace(answer, text=self.scrubbed(answer.text), reasoning=reasoning, answered_by=name, prompt=prompt)

    def scrubbed_failures(self, failures: Sequence[Failure]) -> tuple[Failure, ...]:
        """Failures, whose reasons and tracebacks hold what parts said."""
        return tuple(
            replace(each, reason=self.scrubbed(each.reason), traceback=self.scrubbed(each.traceback))
            for each in failures
        )


def host_of(url: str) -> str:
    """Host and port as a user names them; with "http://" where a key would travel readable through a network."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    return host if parts.scheme == "https" or local else f"{parts.scheme}://{host}"
