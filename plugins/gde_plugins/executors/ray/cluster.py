"""The Ray cluster of a run: an existing one, or one started for the run."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from socket import create_connection

# Ray reads these when it is imported. It must send nothing anywhere, not warn of a
# default that will change, and not start its workers at the lowest priority, with which
# they hardly get on beside other work.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
os.environ.setdefault("RAY_worker_niceness", "0")

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from gde.errors import GdeError
from gde_plugins.executors.config import RayConfig
from gde_plugins.executors.work import threads

PATIENCE = 4.0
"""Seconds in which an address must take a connection."""
ANSWER = 30.0
"""Seconds in which a cluster must answer there, and Ray be imported to ask it. Ray
itself tries for minutes.
"""


def check_address(address: str) -> None:
    """Refuse an address at which no cluster answers.

    Raises:
        GdeError: none does.
    """
    if address in ("", "auto", "local"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        create_connection((host, int(port)), timeout=PATIENCE).close()
        if not address.startswith("ray://"):
            asking = [sys.executable, "-m", "ray.scripts.scripts", "health-check"]
            subprocess.run(
                [*asking, "--address", address],
                timeout=ANSWER,
                check=True,
                capture_output=True,
            )
    except (OSError, ValueError, OverflowError, subprocess.SubprocessError) as error:
        reason = "it does not answer"
        if not isinstance(error, subprocess.SubprocessError):
            reason = str(error)
        raise GdeError(
            f"executor.address: no Ray cluster at {address!r} ({reason}): give the HOST:PORT of a running cluster"
        ) from error


@contextmanager
def cluster(config: RayConfig) -> Iterator[None]:
    """Connect this process while the context lasts.

    Raises:
        GdeError: there is no such cluster, or no machine in it that has what a worker
            needs.
    """
    if ray.is_initialized():
        _check_room(config)
        yield
        return
    handlers = {
        each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        with redirect_stdout(sys.stderr):
            _connect(config)
        # Ray sets handlers of its own, with which the run would not end in good order.
        for each, handler in handlers.items():
            signal.signal(each, handler)
        _check_room(config)
        yield
    finally:
        ray.shutdown()


def cores(config: RayConfig) -> int:
    """Return the number of cores of each worker."""
    return config.cpus or threads(config.workers, {})


def here() -> NodeAffinitySchedulingStrategy:
    """Place an actor on this machine."""
    return NodeAffinitySchedulingStrategy(
        node_id=ray.get_runtime_context().get_node_id(), soft=False
    )


def _connect(config: RayConfig) -> None:
    quiet = {
        "log_to_driver": False,
        "configure_logging": False,
        "logging_level": "ERROR",
    }
    try:
        if config.address:
            ray.init(address=config.address, **quiet)
        else:
            own = max(threads(1, {}), config.workers * cores(config))
            ray.init(address="local", num_cpus=own, include_dashboard=False, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise GdeError(
            f"executor.address: no Ray cluster at {config.address or 'this machine'!r}: {reason}"
        ) from error


def _check_room(config: RayConfig) -> None:
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    cpus = [node.get("CPU", 0.0) for node in nodes]
    gpus = [node.get("GPU", 0.0) for node in nodes]
    needed = cores(config)
    for has_cpus, has_gpus in zip(cpus, gpus, strict=True):
        if has_cpus >= needed and has_gpus >= config.gpus:
            return
    raise GdeError(
        f"executor: wanted machines with {needed} cores and {config.gpus:g} accelerators for a worker,"
        f" got at most {max(cpus, default=0):g} and {max(gpus, default=0):g}: set executor.cpus or executor.gpus"
    )
