"""Episodes on a real Ray cluster of this machine, of several nodes, of which one may be
lost.
"""

import os
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("ray")
import ray
from ray.cluster_utils import Cluster

from gde import Choice, GdeError, How, Plan, evaluate, load_evidence
from gde.testing import check_executor
from gde_plugins.executors.config import RayConfig
from gde_plugins.executors.ray.cluster import check_address
from gde_plugins.executors.ray.executor import OnRay

HERE = Path(__file__).parent
PARTS = [str(HERE), str(HERE.parents[1] / "framework")]
sys.path[:0] = PARTS

from own_parts import long_corridor, mined  # noqa: E402
from placed_parts import Slow, threads  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore"),
]
ON_RAY = How(
    concurrency=2, executor=Choice(name="ray", config={"cpus": 1, "address": "auto"})
)
SERIAL = How(concurrency=2)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The driver's own, which has no room for workers, and two others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "PYTHONPATH", os.pathsep.join([*PARTS, os.environ.get("PYTHONPATH", "")])
        )
        patch.setenv("PLACED_PARTS_LOG", str(tmp_path_factory.mktemp("log") / "log"))
        patch.delenv("OMP_NUM_THREADS", raising=False)
        cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "include_dashboard": False},
        )
        for _ in range(2):
            cluster.add_node(num_cpus=1)
        ray.init(
            address=cluster.address,
            log_to_driver=False,
            logging_level="ERROR",
            configure_logging=False,
        )
        yield cluster
        ray.shutdown()
        cluster.shutdown()


def plan(**changes: Any) -> Plan:
    request = Plan(
        environment=long_corridor,
        agent=Slow,
        metrics=["success"],
        episodes=8,
    )
    return replace(request, **changes)


def record(run: Path) -> list[Any]:
    return list(load_evidence(run).trajectories)


def test_the_contract_is_kept(nodes: Cluster) -> None:
    check_executor(lambda: OnRay(RayConfig(cpus=1)))


def test_a_worker_computes_in_its_own_cores(nodes: Cluster) -> None:
    assert [*OnRay(RayConfig(cpus=1)).map(threads, [0, 1])] == ["1", "1"]


def test_a_worker_has_the_priority_of_this_process(nodes: Cluster) -> None:
    assert [*OnRay(RayConfig(cpus=1)).map(os.nice, [0])] == [os.nice(0)]


def test_what_no_machine_has_room_for_is_refused_at_once(nodes: Cluster) -> None:
    with pytest.raises(
        GdeError,
        match=r"wanted machines with 64 cores and 0 accelerators .* at most 1 and 0",
    ):
        [*OnRay(RayConfig(cpus=64)).map(threads, [0])]


def test_the_record_is_that_of_a_serial_run(nodes: Cluster, tmp_path: Path) -> None:
    result = evaluate(plan(), tmp_path / "run", how=ON_RAY)
    serial = evaluate(plan(), tmp_path / "serial", how=SERIAL)
    assert result.status == serial.status == "ok"
    assert result.measurements == serial.measurements
    assert record(tmp_path / "run") == record(tmp_path / "serial")


def test_an_episode_that_ends_its_process_fails_alone(
    nodes: Cluster, tmp_path: Path
) -> None:
    result = evaluate(plan(environment=mined), tmp_path / "run", how=ON_RAY)
    found = {str(each.key): each for each in record(tmp_path / "run")}
    deadly = {key for key, each in found.items() if each.world.labels["distance"] == 4}
    assert 0 < len(deadly) < len(found) == 8
    assert {failure.subject for failure in result.failures} == deadly
    assert all(
        "its worker process was lost" in failure.reason for failure in result.failures
    )


def test_a_lost_machine_costs_nothing(nodes: Cluster, tmp_path: Path) -> None:
    log = Path(os.environ["PLACED_PARTS_LOG"])
    log.unlink(missing_ok=True)
    doomed = nodes.list_all_nodes()[-1]

    def lose() -> None:
        while not log.exists() or len(set(log.read_text().split())) < 2:
            time.sleep(0.05)
        nodes.remove_node(doomed, allow_graceful=False)

    loser = Thread(target=lose, daemon=True)
    loser.start()
    result = evaluate(plan(episodes=20), tmp_path / "run", how=ON_RAY)
    loser.join(60)
    assert not loser.is_alive()
    assert (result.status, result.failures) == ("ok", ())
    serial = evaluate(plan(episodes=20), tmp_path / "serial", how=SERIAL)
    assert result.measurements == serial.measurements
    assert record(tmp_path / "run") == record(tmp_path / "serial")


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "10.255.255.1:6379", "nowhere", "a:b"]
)
def test_an_unreachable_address_is_refused_before_anything_is_written(
    address: str, tmp_path: Path
) -> None:
    began = time.monotonic()
    plan = Plan(environment=long_corridor, agent="random", episodes=2)
    how = How(executor=Choice(name="ray", config={"address": address}))
    with pytest.raises(GdeError, match=f"no Ray cluster at '{address}'"):
        evaluate(plan, tmp_path / "run", how=how)
    assert time.monotonic() - began < 15
    assert list(tmp_path.iterdir()) == []


def test_a_port_where_nobody_answers_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(GdeError, match=f"{address}' .it does not answer"):
            check_address(address)
