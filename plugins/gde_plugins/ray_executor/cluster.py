"""The Ray cluster of a run: joined, or started on this machine and ended with the
run.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from sys import stderr

# Ray reads these when it is imported. It must send nothing anywhere, and not warn of a
# default that will change.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from gde.errors import GdeError
from gde.executors.work import threads
from gde_plugins.ray_executor.config import RayConfig


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
        with redirect_stdout(stderr):
            _connect(config)
        # Ray sets handlers of its own, with which the run would not end in good order.
        for each, handler in handlers.items():
            signal.signal(each, handler)
        _check_room(config)
        yield
    finally:
        ray.shutdown()


def cores(config: RayConfig) -> int:
    """Give the number of cores of each worker."""
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
    wanted = {"CPU": float(cores(config)), "GPU": config.gpus}
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(
        all(node.get(name, 0.0) >= n for name, n in wanted.items()) for node in nodes
    ):
        most = {
            name: max((node.get(name, 0.0) for node in nodes), default=0.0)
            for name in wanted
        }
        raise GdeError(
            f"executor: wanted machines with {wanted['CPU']:g} cores and {wanted['GPU']:g} accelerators for a worker,"
            f" got at most {most['CPU']:g} and {most['GPU']:g}: set executor.cpus or executor.gpus"
        )
