"""Failed requests to a server: the problem, the remedy, and whether to retry."""

import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import openai
from aiohttp import ClientError, ClientPayloadError, ServerDisconnectedError

from gde_plugins.language_models.config import OpenAIConfig
from gde_plugins.language_models.connection import CutOff, TooLong
from gde_plugins.language_models.rate_limit import retry_after
from gde_plugins.language_models.server_answers import Failed

FOREIGN = 200
"""Status of an answer that is no chat completion, such as a proxy's page."""
PASSING = {FOREIGN, 408, 409, 429, 500, 502, 503, 504, *range(520, 525), 529}
"""Statuses of temporary failures; 520 to 524 are those of a proxy."""
AWAY = {FOREIGN, 401, 402, 403, 404, *range(300, 400), 429, *range(500, 600)}
"""Statuses that are no fault of the request: the server answers nobody."""
ADVICE: Mapping[int, str] = {
    FOREIGN: "the answer is no chat completion: correct the base URL, which often ends in /v1,"
    " or see the log of the server, or of a proxy before it",
    404: "not found: correct the URL or the model's name in openai:MODEL@URL",
    429: "too many requests: lower run.concurrency, or raise model.retries",
}
"""The problem and the remedy by status."""
LATE = {504, 524}
"""Statuses by which a proxy says that the server behind it takes too long."""
PROXY = 20.0
"""Seconds that proxies wait at least, most of them 30, 60 or 100."""
PAGE = re.compile(r"\s*<(!doctype|html|head)", re.IGNORECASE)
QUOTA_SPENT = "insufficient_quota"
"""Error code of a refusal until the user pays."""
CLOSED = (
    "the server closes the connection. See its log, or try https:// in place of http://"
)
UNREACHED: tuple[tuple[type[BaseException], str], ...] = (
    (
        socket.gaierror,
        "no such host is found. Correct the URL, or check this machine's network",
    ),
    (
        ssl.SSLCertVerificationError,
        "the server's certificate is not trusted. Set SSL_CERT_FILE to its authority's certificate",
    ),
    (
        ssl.SSLError,
        "the server does not speak TLS. Write http:// in place of https://",
    ),
    (
        ConnectionRefusedError,
        "nothing listens there. Start the server, or correct host and port of the URL",
    ),
    (ConnectionError, CLOSED),
    (ServerDisconnectedError, CLOSED),
    (
        TimeoutError,
        "nothing answers there. Correct the URL, or check network and proxy",
    ),
)
"""Causes of a failed connection with the problem and the remedy, special ones first."""


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """A request without an answer, and why."""

    message: str
    """The problem, then the remedy."""
    away: bool
    """Whether the server answers nobody at the moment, as far as one request tells."""
    passing: bool
    """Whether another try may help."""
    kind: str = "no whole answer"
    """How the server failed, in a few words."""
    own: bool = False
    """Whether the request itself may be what the server fails at."""
    busy: bool = False
    """Whether the server refused because of its rate limit: other requests should wait
    as well.
    """
    late: bool = False
    """Whether a proxy cut an answer off that took long, which pieces may pass."""
    wait: float | None = None
    """Seconds of the pause that the server requests; None without one."""


class Refusal(NamedTuple):
    """A failure that a server tells by a status."""

    status: int
    said: str
    """The server's own message."""
    whole: str
    """All that it sent, as far as it is known."""
    code: str = ""
    headers: Mapping[str, str] = MappingProxyType({})


def refusal_of(error: BaseException | None) -> Refusal | None:
    """The status and words of a failure; None where the server tells no status.

    Some servers tell one in an answer of status 200.
    """
    if isinstance(error, openai.APIStatusError):
        whole = str(error.body or error)
        said, headers = message_of(error), error.response.headers
        return Refusal(error.status_code, said, whole, error.code or "", headers)
    if isinstance(error, Failed) and error.status is not None:
        return Refusal(error.status, str(error), str(error))
    return None


def read_trouble(
    error: Exception, config: OpenAIConfig, seconds: float = 0.0, keys: str = ""
) -> Trouble:
    """Interpret an exception of the server's client that came after so long.

    `keys` are the environment variables whose keys were sent.
    """
    if refused := refusal_of(error):
        return _read_status(refused, config, seconds, keys)

    if isinstance(error, Failed):
        said = f"{error}: the server has failed, and the model did not answer"
        return Trouble(message=said, away=False, passing=True, kind=str(error))

    if isinstance(error, CutOff):
        return Trouble(message=str(error), away=False, passing=True)

    # Some versions of the client wrap it.
    for each in (error, error.__cause__):
        if isinstance(each, TooLong):
            return Trouble(message=str(each), away=False, passing=False)

    # A timeout while connecting means that the server is away; a later one, that the
    # answer was too slow.
    connecting = "Connect" in type(error.__cause__).__name__
    slow = isinstance(error, openai.APITimeoutError) and not connecting
    if slow or isinstance(error, TimeoutError):
        # Some servers answer one request after the other.
        advice = "Raise model.timeout, or lower run.concurrency"
        message = (
            f"timed out: no whole answer within {config.timeout:g} seconds. {advice}"
        )
        # A server that hangs looks like one that answers this request slowly.
        return Trouble(message=message, away=True, passing=False, own=True)

    if isinstance(error, openai.APIConnectionError):
        return _read_connection(error)

    if isinstance(error, ClientError):
        said = getattr(error, "message", "") or str(error)
        advice = "Correct the URL, or see the server's log"
        message = f"the answer is no HTTP ({said}). {advice}"
        return Trouble(message=message, away=True, passing=True)

    message = str(error) or type(error).__name__
    return Trouble(message=message, away=False, passing=False)


def _read_connection(error: Exception) -> Trouble:
    """Tell a connection that could not be made from one that broke in an answer."""
    causes = [*_causes(error)]
    if any(isinstance(cause, ClientPayloadError) for cause in causes):
        message = "the server, or a proxy, broke its answer off: see its log"
        return Trouble(message=message, away=True, passing=True, own=True)

    message = "cannot connect. Start the server, or correct the URL"
    for kind, explained in UNREACHED:
        if any(isinstance(cause, kind) for cause in causes):
            message = f"cannot connect: {explained}"
            break
    return Trouble(message=message, away=True, passing=True, kind="no connection")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__


def _read_status(
    error: Refusal, config: OpenAIConfig, seconds: float, keys: str
) -> Trouble:
    status = error.status
    wait = retry_after(error.headers)
    too_long = wait is not None and wait > config.longest_wait
    hopeless = error.code == QUOTA_SPENT or too_long

    # Also a server that is overloaded says when to come back.
    busy = status == 429 or (status in PASSING and wait is not None)
    return Trouble(
        message=_explain_status(error, config, keys, wait if too_long else None),
        away=status in AWAY,
        passing=status in PASSING and not hopeless,
        kind=f"status {status}",
        own=status == FOREIGN or status >= 500,
        busy=busy and not hopeless,
        late=status in LATE and seconds > PROXY,
        wait=wait,
    )


def _explain_status(
    error: Refusal, config: OpenAIConfig, keys: str, too_long: float | None
) -> str:
    """Return the problem, the remedy, and the server's own message.

    `too_long` is a wait beyond model.longest_wait.
    """
    status = error.status
    if error.code == QUOTA_SPENT or status == 402:
        advice = "the quota of this key is spent: add credit, or use another key"
    elif too_long is not None:
        advice = f"the server asks to wait {too_long:g} seconds: resume later, or raise model.longest_wait"
    elif 300 <= status < 400:
        where = error.headers.get("location", "nowhere")
        return f"the server redirects to {where}, which gde does not follow. Set that URL as the model's"
    elif status in {401, 403} and keys:
        advice = f"the server refused the key in {keys}: correct it or its rights"
    elif status in {401, 403}:
        advice = f"the server wants a key: set {config.api_key_env}"
    elif status >= 500:
        advice = "the server failed: see its log"
    else:
        advice = ADVICE.get(status, "the server refuses the request")
    said = f": {error.said}" if error.said else ""
    return f"{advice} (status {status}{said})"


def message_of(error: openai.APIStatusError) -> str:
    """Return the server's own message, wherever its body has it; empty for none."""
    body: Any = error.body
    if isinstance(body, Mapping):
        for name in ("message", "detail", "error"):
            if body.get(name):
                return str(body[name])
    text = str(body or "")
    # A proxy answers by a page, which says nothing in one line.
    return "" if PAGE.match(text) else text
