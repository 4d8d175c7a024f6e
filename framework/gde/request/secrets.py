"""Keys: the hosts that they may be sent to, and how they are kept out of the record."""

import json
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from gde.data.completion import Completion
from gde.data.result import Failure
from gde.errors import GdeError
from gde.masking import MASK, SHORTEST, masked

NOTED = "secrets"
"""The journal's note of the environment variables that were read, for processes that
did not read them.
"""


class Secrets:
    """The keys that the parts of one run were given."""

    def __init__(
        self, keys_to: Collection[str] | None = None, is_received: bool = False
    ) -> None:
        """Take the hosts that the caller allows; None for any, where the plan is the
        caller's own.

        The plan of a run folder may come from anyone. One that was made elsewhere
        (`is_received`) reaches no other host at all, and sends a named host only the
        variables and headers that stand behind it, HOST=VARIABLE or HOST=HEADER.
        """
        self._named: set[str] | None = None
        if keys_to is not None:
            hosts = [one.partition("=")[0] for one in keys_to]
            self._named = {*keys_to, *hosts}
        self._is_received = is_received
        self._known: set[str] = set()

    def give(self, variable: str, url: str) -> str:
        """The value of an environment variable, for requests to a URL; empty where it
        has none.

        Raises:
            GdeError: the plan comes from a folder, and the caller did not name the
            host.
        """
        secret = os.environ.get(variable, "")
        host = host_of(url)
        wanted = f"{host}={variable}" if secret and self._is_received else host
        is_named = self._is_named(wanted)
        advice = _advice(wanted)
        if secret and not is_named:
            raise GdeError(
                f"the run folder would have what {variable} holds sent to {host}: {advice}"
            )
        if self._is_received and not is_named:
            raise GdeError(
                f"the run was made elsewhere and would send requests to {host}: {advice}"
            )
        if secret:
            self.keep_out([variable])
        return secret

    def check_header(self, name: str, value: str, url: str) -> None:
        """Refuse to send a header that the plan of a run from elsewhere spells out.

        Raises:
            GdeError: the caller did not name host and header.
        """
        host = host_of(url)
        wanted = f"{host}={name}"
        if self._is_received and not self._is_named(wanted):
            raise GdeError(
                f"the run was made elsewhere and would send {name}: {value} to {host}: {_advice(wanted)}"
            )

    def _is_named(self, wanted: str) -> bool:
        """Whether the caller allows a host, or what may be sent to it."""
        return self._named is None or wanted in self._named

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


def _advice(wanted: str) -> str:
    """What a caller says who wants a request to be sent."""
    return f"if you want that, name the host with --key-to {wanted} (in Python: keys_to=[{wanted!r}])"


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
