"""The runs of a profile."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.parts.reproduction import beside, scaled
from gde_plugins.profile.config import ProfileConfig

SIZES = (7, 9, 11)
DENSITIES = (0.2, 0.6, 1.0)
LEVELS = ("GoToRedBall", "GoToLocal", "PutNextLocal", "PickupLoc")
"""Levels in one room, all of the published class `moderate`."""
CERTIFIED = ("random", "noisy", "optimal")
ANCHORS: Mapping[str, Sequence[str]] = {
    "grids": CERTIFIED,
    "goal-swap": CERTIFIED,
    "keys": CERTIFIED,
    "fog": CERTIFIED,
    # Nobody certifies what is optimal in text worlds; the expert follows walkthroughs.
    "texts": ("random", "expert"),
}
"""Run to the scripted agents that play its worlds too, whose names are columns."""
BLIND = "judge-blind"
"""The episodes of the judge, before the baseline that reads nothing alone."""
LANGUAGE = "gpt-oss"
"""The agent that reads any world as text and asks a language model."""
CHANGED = ("agent", "goal")
"""What the causal tests change: walls would need more worlds."""
LEAST = 40
"""Fewest worlds for probes, so that enough are held out for an interval."""
LEAST_PAIRS = 6
"""Fewest pairs for a judge, likewise."""
PUBLISHED_PAIRS = 250
"""Pairs of the judged domain, which takes a share of them."""


def plans(config: ProfileConfig, scale: float, agent: Choice) -> dict[str, Plan]:
    """All runs by name; those of anchors and other models after the agent's own."""
    own = dict(_own(config, scale, agent))
    found = dict(own)
    for name, anchors in ANCHORS.items():
        for anchor in anchors:
            scripted = replace(own[name], agent=anchor)
            found[beside(name, anchor)] = scripted
    if "judge" in own:
        # It asks no model, so it stands even where the judge is refused.
        found[BLIND] = replace(own["judge"], rewards=(READS_NOTHING,))
    # The weights are those of the agent's own model.
    without = replace(config, weights="")
    for model in config.models:
        other = replace(agent, config={**agent.config, "model": model})
        for name, plan in _own(without, scale, other):
            found[beside(name, model)] = plan
    return found


def _own(
    config: ProfileConfig, scale: float, agent: Choice
) -> Iterator[tuple[str, Plan]]:
    sizes: dict[str, Json] = {"size": list(SIZES), "density": list(DENSITIES)}
    acting = ("success", "accuracy", "efficiency", "outcomes", "references")

    def plan(environment: str, n: int, *metrics: str, **settings: Json) -> Plan:
        return Plan(
            environment=Choice(name=environment, config=settings),
            agent=agent,
            metrics=metrics,
            episodes=scaled(n, scale),
        )

    measured = (*acting, "difficulty", "errors", "meg-verdict", "reward-regret")
    grids = plan("grid", config.grids, *measured)
    yield (
        "grids",
        replace(
            grids,
            environment=Choice(name="grid", config=sizes),
            rewards=(READS_WORLDS, READS_NOTHING),
        ),
    )

    swapped = plan("grid", config.keys, "success", "meg-verdict", size=9, density=0.6)
    yield "goal-swap", replace(swapped, goal_swap=True)

    reading: dict[str, Json] = {"weights": config.weights} if config.weights else {}
    # A dose of 1 is the whole change.
    causes: dict[str, Json] = {"things": list(CHANGED), "doses": [1.0]}
    believing = (*acting, "beliefs", "errors", "meg-belief")
    maps = plan("grid", config.worlds, *believing, size=9, density=0.6)
    mapping: dict[str, Json] = {"variants": ["places", "bilinear"], "turns": "all"}
    yield (
        "beliefs",
        replace(
            maps,
            probes=(
                Choice(name="cogmap", config={**mapping, **reading}),
                *(Choice(name=probe, config=reading) for probe in ("distance", "plan")),
            ),
            metrics=(*maps.metrics, Choice(name="causes", config=causes)),
            episodes=max(LEAST, maps.episodes),
        ),
    )

    yield "keys", plan("key-door", config.keys, "success", "accuracy", "keys")
    yield (
        "fog",
        plan(
            "grid",
            config.keys,
            "success",
            "exploration",
            size=9,
            density=1.0,
            view_radius=3,
        ),
    )
    for task in ("predict", "plan", "decompose"):
        questions = plan(
            f"babyai-{task}", config.questions, "success", "outcomes", f"babyai-{task}"
        )
        levels: dict[str, Json] = {"level": list(LEVELS)}
        environment = Choice(name=f"babyai-{task}", config=levels)
        yield task, replace(questions, environment=environment)

    texts = plan("textworld", config.texts, "success")
    if agent.name != LANGUAGE:
        yield "texts", texts
    else:
        model = agent.config.get("model", "nano")
        asking = Choice(name="react", config={"model": model})
        yield "texts", replace(texts, agent=asking)
        yield "texts-reward", replace(texts, agent=replace(asking, name="react-reward"))
        judge = Choice(name="judge", config={"model": model})
        n_pairs = max(LEAST_PAIRS, scaled(config.pairs, scale))
        share = n_pairs / PUBLISHED_PAIRS
        recorded: dict[str, Json] = {"domain": "blocksworld", "share": share}
        judging = plan("rewardbench", config.pairs, "epic")
        yield (
            "judge",
            replace(
                judging,
                environment=Choice(name="rewardbench", config=recorded),
                agent="random",
                rewards=(judge, READS_NOTHING),
                # Whole pairs: all trajectories of the share.
                episodes=2 * n_pairs,
            ),
        )


READS_WORLDS = "statefactory"
"""A reward model that reads grids by rules."""
READS_NOTHING = "goal-mentions-unrepeated"
"""The best baseline of a reward model that reads no world."""
