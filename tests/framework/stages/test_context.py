"""What a part is made with: the run's models, metrics and readouts by name, its own
seed and folder.
"""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from gde import ChatRequest, Choice, GdeError, Message, Plan, UnknownName, evaluate
from gde.request.catalogue import Catalogue
from gde.request.ready import untrusted
from gde.request.resolve import resolve
from gde.stages.context import Resources
from gde.store.folder import RunFolder
from gde.store.journal import Journal

PLAN = Plan(
    environment="corridor",
    agent=Choice(name="advised", config={"adviser": "appraising"}),
    metrics=(Choice(name="success"), Choice(name="trends", alias="mine")),
)
ASKED = ChatRequest(messages=(Message(role="user", content="?"),), seed=0)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        yield journal


@pytest.fixture
def resources(catalogue: Catalogue, journal: Journal) -> Iterator[Resources]:
    with closing(Resources(resolve(PLAN, catalogue), journal)) as resources:
        yield resources


def test_one_name_is_one_model_for_all_parts(resources: Resources) -> None:
    agent, judge = (
        resources.context("agent", "advised"),
        resources.context("reward_model", "judge"),
    )
    agent.model("planted"), judge.model("planted"), judge.model("appraising")
    assert resources.models.get("planted") is resources.models.get("planted")
    assert resources.models.get("planted") is not resources.models.get("appraising")


def test_what_a_part_asks_is_kept_under_its_name(
    resources: Resources, journal: Journal
) -> None:
    for kind, label in (("reward_model", "judge"), ("metric", "poll")):
        asyncio.run(resources.context(kind, label).model("planted").complete(ASKED))
    found = {row["scope"] for row in journal.query("SELECT scope FROM calls")}
    assert found == {"reward_model judge", "metric poll"}


def test_a_model_that_nobody_offers_is_named(resources: Resources) -> None:
    with pytest.raises(
        UnknownName, match=r"unknown language model 'plantet'\. Did you mean planted"
    ):
        resources.context("agent", "a").model("plantet")


def test_an_untrusted_plan_has_no_part_made_that_more_than_reads(
    catalogue: Catalogue, journal: Journal
) -> None:
    """The plan names one of the models; all else is beyond it."""
    with closing(Resources(untrusted(resolve(PLAN, catalogue)), journal)) as resources:
        context = resources.context("metric", "pairs")
        for ask in (
            partial(context.model, "planted"),
            partial(context.model, "nano"),
            partial(context.reward_model, "monotonic"),
            partial(context.metric, "efficiency"),
        ):
            with pytest.raises(GdeError, match="a run that you do not trust"):
                ask()
        assert context.metric("success") and context.metric("accuracy")


def test_metrics_are_those_of_the_run_else_the_offered_ones(
    resources: Resources,
) -> None:
    context = resources.context("metric", "pairs")
    assert context.metric("success") is context.metric("success")
    assert context.metric("mine") is context.metric("trends")
    assert context.metric("accuracy.pooled") is context.metric("accuracy")
    with pytest.raises(UnknownName, match="unknown metric 'succes'"):
        context.metric("succes")


def test_a_metric_that_asks_for_itself_is_refused(resources: Resources) -> None:
    with pytest.raises(GdeError, match="metric 'success' asks for itself"):
        resources.context("metric", "success").metric("success")
    assert resources.context("probe", "success").metric("success")


def test_a_reward_model_that_asks_for_itself_is_refused(resources: Resources) -> None:
    with pytest.raises(GdeError, match="reward model 'monotonic' asks for itself"):
        resources.context("reward_model", "monotonic").reward_model("monotonic")
    assert resources.context("agent", "monotonic").reward_model("monotonic")


def test_seeds_follow_from_plan_kind_and_name_alone(catalogue: Catalogue) -> None:
    def seed(root: int, kind: str, label: str) -> int:
        return (
            Resources(resolve(replace(PLAN, seed=root), catalogue))
            .context(kind, label)
            .seed
        )

    places = [
        (root, kind, label)
        for root in (0, 1)
        for kind in ("agent", "metric")
        for label in ("a", "b")
    ]
    assert [seed(*place) for place in places] == [seed(*place) for place in places]
    assert len({seed(*place) for place in places}) == len(places)


def test_every_part_has_a_folder_that_is_gone_with_the_run(
    resources: Resources,
) -> None:
    first, second = (
        resources.context("agent", "../a").scratch,
        resources.context("metric", "../a").scratch,
    )
    (first / "notes").write_text("mine")
    assert first != second
    assert first.parent == second.parent
    assert not list(second.iterdir())
    resources.close()
    assert not first.parent.exists()


def test_a_readout_is_the_one_that_was_fitted(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    plan = Plan(
        environment="long-corridor",
        agent="asking",
        probes=["where"],
        metrics=["success"],
        episodes=30,
    )
    evaluate(plan, tmp_path / "run", catalogue)
    folder = RunFolder.open(tmp_path / "run")
    with (
        closing(folder.journal()) as journal,
        closing(
            Resources(resolve(folder.plan(), catalogue), journal, folder.probes)
        ) as resources,
    ):
        context = resources.context("metric", "m")
        readout = context.readout("where", "where-centroid-layer1-pre-none")
        assert readout.arrays()["means"].shape == (11, 3 * 64)
        with pytest.raises(UnknownName, match="unknown fit of probe where 'where-mlp'"):
            context.readout("where", "where-mlp")
        with pytest.raises(
            GdeError, match="wanted a probe of this run, which has where"
        ):
            context.readout("cogmap", "any")


def test_without_a_run_there_is_no_readout(catalogue: Catalogue) -> None:
    with pytest.raises(GdeError, match="wanted a probe of this run, which has none"):
        Resources(catalogue).context("metric", "m").readout("where", "any")
