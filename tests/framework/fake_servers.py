"""Servers with OpenAI's chat completions that deviate as real ones do.

All of `FAKES` answer an optimal action, in the form or with the failures of some server.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, cycle
from typing import Any

Body = dict[str, Any]
MODEL = "llama-3"
DETAILS = [{"type": "reasoning.text", "text": "LEFT?"}]
ANALYSIS = "<|channel|>analysis<|message|>LEFT?"
FINAL = "<|start|>assistant<|channel|>final<|message|>"
STEPS = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
"""Rows down and columns to the right."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What is sent back."""

    status: int = 200
    body: Any = None
    """JSON, or bytes as they are."""
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"


Answer = Callable[[Body], Reply]


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that gives up is no error of the server.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class FakeServer:
    """Answers chat completions by a function of the request's body."""

    def __init__(
        self, answer: Answer, models: Sequence[str] = (MODEL,), base: str = "/v1"
    ) -> None:
        self.asked: list[Body] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path != f"{base}/models":
                    self.say(Reply(status=404, body={"detail": "Not Found"}))
                    return
                names = [{"id": name} for name in models]
                self.say(Reply(body={"object": "list", "data": names}))

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                sent = self.rfile.read(length)
                if len(sent) < length:
                    # The client has given up.
                    return
                body = json.loads(sent)
                outer.asked.append(body)
                if self.path != f"{base}/chat/completions":
                    self.say(Reply(status=404, body={"detail": "Not Found"}))
                    return
                key = self.headers["authorization"] or ""
                self.say(answer({**body, "key": key.removeprefix("Bearer ")}))

            def say(self, reply: Reply) -> None:
                data = reply.body
                if not isinstance(data, bytes):
                    data = json.dumps(data).encode()
                self.send_response(reply.status)
                self.send_header("content-type", reply.kind)
                self.send_header("content-length", str(len(data)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._http = _Server(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._http.server_address[1]}"
        self.url = f"http://{self.host}{base}"
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@contextmanager
def serving(answer: Answer, models: Sequence[str] = (MODEL,)) -> Iterator[FakeServer]:
    server = FakeServer(answer, models)
    try:
        yield server
    finally:
        server.close()


def said(
    content: Any, message: Body | None = None, choice: Body | None = None, **more: Any
) -> Reply:
    """An ordinary answer, and further fields of its message, choice and whole."""
    one = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **(message or {})},
        "finish_reason": "stop",
        **(choice or {}),
    }
    usage = {"prompt_tokens": 1000, "completion_tokens": 10}
    return Reply(body={"model": MODEL, "choices": [one], "usage": usage, **more})


def refused(message: str, status: int = 400, **headers: str) -> Reply:
    return Reply(status=status, body={"error": {"message": message}}, headers=headers)


def action_for(body: Body) -> str:
    """The first step of a shortest way from A to G in the drawing of the grid."""
    shown = body["messages"][-1]["content"].rpartition("Current state:")[2]
    lines = [line.split()[1:] for line in shown.splitlines() if "#" in line]
    cells = {}
    for row, marks in enumerate(lines):
        cells.update({(row, column): mark for column, mark in enumerate(marks)})
    ways = {place: "" for place, mark in cells.items() if mark == "A"}
    assert len(ways) == 1, shown

    # Each place goes to the end of the places that are still to be left.
    for row, column in (left := [*ways]):
        for step, (down, right) in STEPS.items():
            place = (row + down, column + right)
            if cells[place] != "#" and place not in ways:
                ways[place] = ways[row, column] or step
                left.append(place)
    return next(ways[place] for place, mark in cells.items() if mark == "G")


def answer_for(body: Body) -> str:
    return json.dumps({"action": action_for(body)})


def plain(body: Body) -> Reply:
    return said(answer_for(body))


def refuses_fields(body: Body) -> Reply:
    for name in ("reasoning_effort", "seed", "return_token_ids"):
        if name in body:
            return refused(f"Unrecognized request argument supplied: {name}")
    if "max_tokens" in body:
        return refused(
            "Unsupported: 'max_tokens'. Use 'max_completion_tokens' instead."
        )
    return plain(body)


def names_one_of_two(body: Body) -> Reply:
    if body["model"] != MODEL:
        return refused(f"The model {body['model']!r} does not exist", 404)
    return plain(body)


def around(before: str, after: str = "") -> Answer:
    """The answer between what a server has left of a format."""
    return lambda body: said(f"{before}{answer_for(body)}{after}")


def thinks(**fields: Any) -> Answer:
    """The reasoning in fields of the message."""
    return lambda body: said(answer_for(body), fields)


def in_parts(body: Body) -> Reply:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "UP?"}]}
    return said([thought, {"type": "text", "text": answer_for(body)}])


def in_fences(body: Body) -> Reply:
    return said(f"Here is my move:\n\n```json\n{answer_for(body)}\n```")


def calls_a_tool(body: Body) -> Reply:
    function = {
        "name": body["tools"][0]["function"]["name"],
        "arguments": answer_for(body),
    }
    calls = [{"id": "1", "type": "function", "function": function}]
    return said(None, {"tool_calls": calls}, {"finish_reason": "tool_calls"})


def with_logprobs(body: Body) -> Reply:
    content = [{"token": "{", "logprob": -0.5, "id": 7}]
    return said(answer_for(body), choice={"logprobs": {"content": content}})


def with_ids(body: Body) -> Reply:
    return said(answer_for(body), choice={"token_ids": [7, 8]}, prompt_token_ids=[1, 2])


def bare(body: Body) -> Reply:
    return Reply(body={"choices": [{"message": {"content": answer_for(body)}}]})


def slow(body: Body) -> Reply:
    time.sleep(0.1)
    return plain(body)


def sometimes(*troubles: Reply) -> Answer:
    """Every third request has trouble, of each kind in turn."""
    requests = count()
    following = cycle(troubles)

    def answer(body: Body) -> Reply:
        return next(following) if next(requests) % 3 == 1 else plain(body)

    return answer


def truncated_json() -> Answer:
    requests = count()

    def answer(body: Body) -> Reply:
        whole = json.dumps(plain(body).body).encode()
        return Reply(body=whole[:-20] if next(requests) % 3 == 1 else whole)

    return answer


def as_text(body: Body) -> Reply:
    return Reply(body=plain(body).body, kind="text/plain; charset=latin-1")


def in_pieces(reply: Reply, stops: bool = True, error: Body | None = None) -> Reply:
    """The same answer by server-sent events, which may break off or end with an error."""
    whole = dict(reply.body)
    (choice,) = whole.pop("choices")
    message = choice["message"]
    usage = whole.pop("usage")
    deltas: list[Body] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": letter} for letter in message["content"] or ""]
    chunks: list[Body] = [
        {**whole, "choices": [{"index": 0, "delta": delta}]} for delta in deltas
    ]
    if error:
        chunks.append({"error": error})
    elif stops:
        end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        chunks += [{**whole, "choices": [end]}, {"choices": [], "usage": usage}]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    body = "".join([*lines, "data: [DONE]\n\n"]).encode()
    return Reply(body=body, kind="text/event-stream")


def streams(body: Body) -> Reply:
    assert body["stream"] and body["stream_options"] == {"include_usage": True}
    return in_pieces(plain(body))


FAKES: Mapping[str, Callable[[], Answer]] = {
    "plain": lambda: plain,
    "several models": lambda: names_one_of_two,
    "fields refused": lambda: refuses_fields,
    "think tags": lambda: around("<think>UP or LEFT? {}</think>\n\n"),
    "reasoning": lambda: thinks(reasoning="LEFT?", reasoning_content="LEFT?"),
    "details": lambda: thinks(reasoning_details=DETAILS),
    "details twice": lambda: thinks(reasoning="LEFT?", reasoning_details=DETAILS),
    "channels": lambda: around(f"{ANALYSIS}<|end|>{FINAL}", "<|return|>"),
    "flat channels": lambda: around("analysisLEFT?assistantfinal"),
    "flat call": lambda: around(
        "analysisLEFT?assistantcommentary to=functions.act json"
    ),
    "tail token": lambda: around("", "<|return|>"),
    "tail of a channel": lambda: around("assistantfinal"),
    "parts": lambda: in_parts,
    "fences": lambda: in_fences,
    "tool calls": lambda: calls_a_tool,
    "log-probabilities": lambda: with_logprobs,
    "token ids": lambda: with_ids,
    "nothing but text": lambda: bare,
    "slow": lambda: slow,
    "429 with Retry-After": lambda: sometimes(
        refused("slow down", 429, **{"retry-after": "0.1"})
    ),
    "429 without Retry-After": lambda: sometimes(refused("slow down", 429)),
    "truncated JSON": truncated_json,
    "wrong content type": lambda: as_text,
    "abort": lambda: sometimes(said("LEFT", choice={"finish_reason": "abort"})),
    "made-up finish": lambda: sometimes(said("LEFT", choice={"finish_reason": "oops"})),
    "no content": lambda: sometimes(said(None)),
    "no choices": lambda: sometimes(
        Reply(body={"model": MODEL, "choices": []}),
        Reply(body={"model": MODEL, "choices": None}),
    ),
    "error in a choice": lambda: sometimes(
        said("LEFT", choice={"error": {"code": 502, "message": "Bad gateway"}})
    ),
    "error in a 200": lambda: sometimes(
        Reply(body={"error": {"code": 429, "message": "slow down"}})
    ),
    "stream": lambda: streams,
    "stream although not asked": lambda: lambda body: in_pieces(plain(body)),
    "stream that stops": lambda: sometimes(in_pieces(said("LEFT"), stops=False)),
    "error in a stream": lambda: sometimes(
        in_pieces(said("LEFT"), error={"code": 502, "message": "Bad gateway"})
    ),
    "pages of a proxy": lambda: sometimes(
        *(Reply(status=status, body=b"<html></html>") for status in range(520, 525))
    ),
    "empty 200": lambda: sometimes(Reply(body=b"")),
    "page in a 200": lambda: sometimes(Reply(body=b"<html>Back soon</html>")),
}
"""Makers of servers' answers, since some count their requests."""
