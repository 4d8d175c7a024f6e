"""Keys, which are kept out of the record."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from gde.data.completion import Completion
from gde.data.result import Failure
from gde.masking import MASK, SHORTEST, masked

NOTED = "secrets"
"""The journal's note of the environment variables that were read, for processes that
did not read them.
"""


class Secrets:
    """The keys that the parts of one run were given."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def give(self, variable: str) -> str:
        """The value of an environment variable; empty where it has none."""
        secret = os.environ.get(variable, "")
        if secret:
            self.keep_out([variable])
        return secret

    def keep_out(self, variables: Iterable[str]) -> None:
        """Keep the values of environment variables out of the record."""
        for variable in variables:
            secret = os.environ.get(variable, "")
            if len(secret) >= SHORTEST:
                # The record holds texts in JSON, and JSON in JSON.
                escaped = json.dumps(secret)[1:-1]
                escaped_twice = json.dumps(escaped)[1:-1]
                self._known.update((secret, escaped, escaped_twice))

    def scrubbed(self, text: str) -> str:
        """The text with a mask in the place of every secret."""
        for secret in self._known:
            text = text.replace(secret, MASK)
        return text

    def scrubbed_row(self, values: Sequence[Any]) -> Sequence[Any]:
        """The values of a row, its texts without secrets."""
        if not self._known:
            return values
        clean = []
        for value in values:
            clean.append(self.scrubbed(value) if isinstance(value, str) else value)
        return clean

    def scrubbed_answer(self, answer: Completion) -> Completion:
        """An answer without secrets, before a part cuts it into pieces in which they
        are not found.
        """
        if not self._known:
            return answer

        reasoning = answer.reasoning
        if reasoning is not None:
            reasoning = self._masked(reasoning)
        prompt = []
        for message in answer.prompt:
            content = self.scrubbed(message.content)
            prompt.append(replace(message, content=content))
        return replace(
            answer,
            text=self._masked(answer.text),
            reasoning=reasoning,
            answered_by=self._masked(answer.answered_by),
            served={name: self._masked(said) for name, said in answer.served.items()},
            prompt=tuple(prompt),
        )

    def _masked(self, text: str) -> str:
        """A text of a server, which may repeat a piece of a key."""
        # Whole keys first: of an escaped one, a piece is one of another form too.
        text = self.scrubbed(text)
        for secret in self._known:
            text = masked(text, secret)
        return text

    def scrubbed_failures(self, failures: Sequence[Failure]) -> tuple[Failure, ...]:
        """Failures without secrets: reasons and tracebacks hold messages of parts."""
        clean = []
        for failure in failures:
            reason = self.scrubbed(failure.reason)
            traceback = self.scrubbed(failure.traceback)
            clean.append(replace(failure, reason=reason, traceback=traceback))
        return tuple(clean)


def host_of(url: str) -> str:
    """Host and port as a user names them; with "http://" if a key would travel
    unencrypted through a network.
    """
    parts = urlsplit(url)
    _, _, host = parts.netloc.rpartition("@")
    host = host.lower()
    is_local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme == "https" or is_local:
        return host
    return f"{parts.scheme}://{host}"
