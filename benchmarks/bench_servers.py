"""Requests to a server of fixed latency: how many a second, and what each costs. Prints one JSON object.

    python benchmarks/bench_servers.py [SECONDS]

The server, in a process of its own, answers every request after the same time and does nothing else, so nobody can be
faster than the number in flight divided by that time. `share` is what of this is reached; on a busy machine it tells
how busy that is, and `bound`, the calls that the CPU of one core is enough for, is what to look at. "model" is asking
the model alone; "run" is a whole evaluation, with a journal, an agent that asks at every turn, and its scoring.
"""

import asyncio
import json
import multiprocessing
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gde import Catalogue, Choice, Evidence, Plan, Result
from gde.data.completion import ChatRequest, Message
from gde.request.plugins import load_plugins
from gde.runs.evaluating import evaluate
from gde_plugins.language_models.config import OpenAIConfig
from gde_plugins.language_models.openai_model import OpenAIModel

LATENCY = 1.0
IN_FLIGHT = (32, 128, 512)
WARM_UP = 12
"""Latencies until everything is in flight."""
SIZE = 9
"""Of the grids of a run."""


class NoPage:
    """A reporter that shows nothing."""

    def render(self, plan: Plan, result: Result, evidence: Evidence, folder: Path) -> Path:  # noqa: ARG002
        """Give the run folder."""
        return folder


class Answering(asyncio.Protocol):
    """Answers what comes in on one connection."""

    def __init__(self, latency: float) -> None:
        message = {"role": "assistant", "content": "RIGHT"}
        body = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "fixed",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101},
            }
        ).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self._answer, self._latency, self._came = head.encode() + body, latency, b""

    def connection_made(self, transport: Any) -> None:
        """Remember whom to answer."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer a request when it is complete."""
        self._came += data
        head, end, rest = self._came.partition(b"\r\n\r\n")
        if end and len(rest) >= int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]):
            self._came = b""
            asyncio.get_running_loop().call_later(self._latency, self._transport.write, self._answer)


def serve(latency: float, port: Any) -> None:
    """Be the server."""

    async def forever() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Answering(latency), "127.0.0.1", 0, backlog=4096)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


def model(url: str, in_flight: int, seconds: float) -> Mapping[str, float]:
    """The model alone."""
    messages = (Message(role="system", content="Reach the goal. " * 60), Message(role="user", content="Where? " * 40))
    answers = 0

    async def ask(asked: OpenAIModel) -> None:
        nonlocal answers
        while True:
            await asked.complete(ChatRequest(messages=messages, seed=answers))
            answers += 1

    async def measured() -> Mapping[str, float]:
        asked = OpenAIModel(OpenAIConfig(source=url, model="fixed"))
        tasks = [asyncio.create_task(ask(asked)) for _ in range(in_flight)]
        await asyncio.sleep(WARM_UP * LATENCY)
        before, wall, cpu = answers, time.perf_counter(), time.process_time()
        await asyncio.sleep(seconds)
        n, wall, cpu = answers - before, time.perf_counter() - wall, time.process_time() - cpu
        for task in tasks:
            task.cancel()
        return figures(n, wall, cpu, in_flight)

    return asyncio.run(measured())


def run(url: str, in_flight: int, episodes: int, folder: Path) -> Mapping[str, float]:
    """A whole evaluation."""
    plan = Plan(
        environment=Choice(name="grid", config={"size": SIZE}),
        agent=Choice(name="asking", config={"model": f"openai:{url}"}),
        language_model={"model": "fixed"},
        metrics=(Choice(name="success"),),
        reporters=(NoPage,),
        episodes=episodes,
        concurrency=in_flight,
    )
    wall, cpu = time.perf_counter(), time.process_time()
    result = evaluate(plan, folder, Catalogue(load_plugins(modules=("gde.testing.plugin",))))
    return figures(result.subject.turns, time.perf_counter() - wall, time.process_time() - cpu, in_flight)


def figures(calls: int, wall: float, cpu: float, in_flight: int) -> Mapping[str, float]:
    """What is told of so many calls."""
    return {
        "calls_per_s": calls / wall,
        "share": calls / wall * LATENCY / in_flight,
        "cpu_ms_per_call": 1000 * cpu / calls,
        "bound_per_s": calls / cpu,
        "busy_share_of_a_core": cpu / wall,
    }


def main(seconds: float) -> None:
    """Measure and print."""
    port = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(LATENCY, port), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{port.get()}/v1"
    with TemporaryDirectory() as folder:
        told = {
            "model": {str(n): model(url, n, seconds) for n in IN_FLIGHT},
            "run": {"32": run(url, 32, 128, Path(folder) / "run")},
        }
    server.terminate()
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
