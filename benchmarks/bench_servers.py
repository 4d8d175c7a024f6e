"""Requests to a server of fixed latency: how many a second, and what each costs. Prints
one JSON object.

    python benchmarks/bench_servers.py [SECONDS [LATENCY [IN_FLIGHT,...]]]

The server, in a process of its own, answers every request after the same time and does
nothing else, so nobody can be faster than the number in flight divided by that time.
`share` is what of this is reached; on a busy machine it tells how busy that is, and
`bound`, the calls that the CPU of one core is enough for, is what to look at. "openai"
is openai's own client; "model" is asking the model alone; "run" is a whole evaluation, with a journal and an agent that
asks at every turn, as it goes once all episodes are under way, and "whole" the same
with start, end and scoring; "workers" is the run in two processes, whose CPU is counted
once they have ended, so that only its share tells how it goes.
"""

import asyncio
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import openai
from no_page import NoPage
from sizes import size

from gde import Catalogue, Choice, How, Plan
from gde.data.completion import ChatRequest, Message
from gde.request.catalogue import load_plugins
from gde.runs.evaluating import evaluate
from gde_plugins.language_models.config import OpenAIConfig
from gde_plugins.language_models.openai_model import OpenAIModel

IN_FLIGHT = size((32, 128, 512), (2,))
SECONDS = size(10.0, 0.2)
LATENCY = size(1.0, 0.02)
WARM_UP = 12
"""Latencies until everything is in flight."""
REST = 6
"""Latencies that the episodes of a run last beyond what is measured."""
STEPS = 8
"""From start to goal in the grids of a run: more than lead anywhere in one
direction.
"""
WORKERS = 2
Figures = Mapping[str, float]


class Answering(asyncio.Protocol):
    """Answers what comes in on one connection."""

    def __init__(self, latency: float, answers: Any) -> None:
        message = {"role": "assistant", "content": "RIGHT"}
        body = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "fixed",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {
                    "prompt_tokens": 100,
                    "completion_tokens": 1,
                    "total_tokens": 101,
                },
            }
        ).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self._answer, self._latency, self._came = head.encode() + body, latency, b""
        self._answers = answers

    def connection_made(self, transport: Any) -> None:
        """Remember whom to answer."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer a request when it is complete."""
        self._came += data
        head, end, rest = self._came.partition(b"\r\n\r\n")
        if end and len(rest) >= int(
            head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        ):
            self._came = b""
            asyncio.get_running_loop().call_later(self._latency, self._reply)

    def _reply(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._answer)
            self._answers.value += 1


def serve(latency: float, port: Any, answers: Any) -> None:
    """Be the server, and count the answers."""

    async def forever() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: Answering(latency, answers), "127.0.0.1", 0, backlog=4096
        )
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


@dataclass(frozen=True)
class Server:
    """The server as it is seen from here."""

    url: str
    latency: float
    answers: Any

    def figures(self, in_flight: int, calls: int, wall: float, cpu: float) -> Figures:
        """What is told of so many calls."""
        return {
            "calls_per_s": calls / wall,
            "share": calls / wall * self.latency / in_flight,
            "cpu_ms_per_call": 1000 * cpu / calls,
            "bound_per_s": calls / cpu,
            "busy_share_of_a_core": cpu / wall,
        }


@dataclass
class Window:
    """Looks at the server and at the clocks of this process, once all is in flight and
    again after some seconds.
    """

    server: Server
    in_flight: int
    seconds: float
    figures: Figures = field(default_factory=dict)

    def look(self) -> None:
        """Wait, and measure."""
        begun = self.server.answers.value
        while self.server.answers.value == begun:
            time.sleep(0.01)
        time.sleep(WARM_UP * self.server.latency)
        calls, wall, cpu = (
            self.server.answers.value,
            time.perf_counter(),
            time.process_time(),
        )
        time.sleep(self.seconds)
        calls, wall, cpu = (
            self.server.answers.value - calls,
            time.perf_counter() - wall,
            time.process_time() - cpu,
        )
        self.figures = self.server.figures(self.in_flight, calls, wall, cpu)


MESSAGES = (
    Message(role="system", content="Reach the goal. " * 60),
    Message(role="user", content="Where? " * 40),
)


def plain(server: Server, in_flight: int, seconds: float) -> Figures:
    """openai's client as its documentation shows it."""
    window = Window(server, in_flight, seconds)
    messages: Any = [asdict(message) for message in MESSAGES]

    async def ask(client: openai.AsyncOpenAI) -> None:
        while True:
            await client.chat.completions.create(model="fixed", messages=messages)

    async def measured() -> None:
        async with openai.AsyncOpenAI(base_url=server.url, api_key="none") as client:
            tasks = [asyncio.create_task(ask(client)) for _ in range(in_flight)]
            await asyncio.to_thread(window.look)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(measured())
    return window.figures


def model(server: Server, in_flight: int, seconds: float) -> Figures:
    """The model alone."""
    window, answers = Window(server, in_flight, seconds), 0

    async def ask(asked: OpenAIModel) -> None:
        nonlocal answers
        while True:
            await asked.complete(ChatRequest(messages=MESSAGES, seed=answers))
            answers += 1

    async def measured() -> None:
        asked = OpenAIModel(OpenAIConfig(source="fixed", url=server.url))
        tasks = [asyncio.create_task(ask(asked)) for _ in range(in_flight)]
        await asyncio.to_thread(window.look)
        for task in tasks:
            task.cancel()

    asyncio.run(measured())
    return window.figures


def run(
    server: Server, in_flight: int, seconds: float, workers: int = 1
) -> Mapping[str, Figures]:
    """A whole evaluation, of as many episodes as are in flight."""
    turns = WARM_UP + REST + seconds / server.latency
    grid = {
        "size": 9,
        "min_distance": STEPS,
        "max_distance": STEPS,
        "horizon_factor": turns / STEPS,
    }
    plan = Plan(
        environment=Choice(name="grid", config=grid),
        agent=Choice(name="asking", config={"model": f"openai:fixed@{server.url}"}),
        metrics=("success",),
        episodes=in_flight,
    )
    how = How(concurrency=in_flight // workers, reporters=(NoPage,))
    if workers > 1:
        processes = Choice(name="processes", config={"workers": workers})
        how = replace(how, executor=processes, reporters=())
    window = Window(server, in_flight, seconds)
    looking = Thread(target=window.look)
    looking.start()
    with TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), cpu_seconds()
        result = evaluate(
            plan,
            Path(folder) / "run",
            Catalogue(load_plugins(modules=("gde.testing.plugin",))),
            how=how,
        )
        whole = server.figures(
            in_flight,
            result.subject.turns,
            time.perf_counter() - wall,
            cpu_seconds() - cpu,
        )
    looking.join()
    return {"run": window.figures, "whole": whole}


def cpu_seconds() -> float:
    """Of this process and of its workers that have ended, not of the server."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main(
    seconds: float = SECONDS,
    latency: float = LATENCY,
    in_flight: Sequence[int] = IN_FLIGHT,
) -> None:
    """Measure and print."""
    port, answers = multiprocessing.Queue(), multiprocessing.Value("q", lock=False)
    process = multiprocessing.Process(
        target=serve, args=(latency, port, answers), daemon=True
    )
    process.start()
    server = Server(f"http://127.0.0.1:{port.get()}/v1", latency, answers)
    told = {
        n: {
            "openai": plain(server, n, seconds),
            "model": model(server, n, seconds),
            **run(server, n, seconds),
            "workers": run(server, n, seconds, WORKERS),
        }
        for n in in_flight
    }
    process.terminate()
    sys.stdout.write(json.dumps({"latency": latency, **told}) + "\n")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(
        *map(float, arguments[:2]),
        *([int(n) for n in each.split(",")] for each in arguments[2:3]),
    )
