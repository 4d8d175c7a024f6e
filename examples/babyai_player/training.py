"""Training on noisy walks, and scores in worlds that were held out."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from babyai_player.folder import write_player
from babyai_player.network import IGNORED, Network, targets
from babyai_player.player import Player
from babyai_player.reading import vocabulary
from babyai_player.walks import Walk, walks_in
from gde.errors import ConfigError
from gde.files import new_folder
from gde.numerics.stats import Estimate, cluster_share
from gde.seeding import derive, generator
from gde_plugins.babyai.worlds.levels import PAPER_LEVELS

FIRST_SEED = 1_000_000
"""Training worlds have seeds from here on, and held-out worlds those from 1 on."""
WARM_UP = 0.05
"""Share of the steps in which the learning rate rises; it then falls to zero."""
LARGEST_GRADIENT = 1.0
POINTS = 5
"""Number of times that the player is scored, the last step included."""
BATCH = 256
"""Number of held-out walks that are scored at a time."""
Watch = Callable[[int, int, Mapping[str, Any]], None]
"""Takes the number of a step, the number of all, and the scores in held-out worlds."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a player is trained."""

    levels: tuple[str, ...] = PAPER_LEVELS[:6]
    """Levels of the training worlds."""
    worlds: int = 3000
    """Number of training worlds."""
    held_out: int = 60
    """Number of held-out worlds that the player is scored in."""
    steps: int = 2500
    """Number of training steps."""
    batch_size: int = 32
    """Number of walks per step."""
    learning_rate: float = 2e-3
    """Largest learning rate."""
    seed: int = 0
    """First weights, and the order of the walks, follow from it."""


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Shares in held-out worlds, with intervals over worlds."""

    actions: Estimate
    """Moments at which the player takes the expert's next action."""
    last_states: Estimate
    """Walks whose last state it predicts."""
    counted: Estimate
    """Walks whose last state is right without a look at the world: every step forward
    counts.
    """

    def row(self, step: int, loss: float) -> Mapping[str, Any]:
        """The row of the card."""
        shares = {}
        for name in ("actions", "last_states", "counted"):
            found: Estimate = getattr(self, name)
            interval = found.interval and [round(each, 4) for each in found.interval]
            shares[name] = {"value": round(found.value, 4), "interval": interval}
        return {"step": step, "loss": round(loss, 4), **shares}


def train(recipe: Recipe, out: Path, watch: Watch) -> Sequence[Mapping[str, Any]]:
    """Train a player and write it to a new folder; return its scores over the steps.

    Raises:
        ConfigError: `out` exists, or the training diverged; nothing is written.
    """
    with new_folder(out) as folder:
        walks = [*_walks(recipe, FIRST_SEED, recipe.worlds)]
        held_out = [*_walks(recipe, 1, recipe.held_out)]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(recipe.seed, "babyai player") % 2**63)
            network = Network(vocabulary(walk.lines for _, walk in walks))
            scores = []
            for step, loss in _fit(network, [walk for _, walk in walks], recipe):
                row = score(network, held_out).row(step, loss)
                scores.append(row)
                watch(step, recipe.steps, row)
        write_player(folder, network, asdict(recipe), scores)
        return scores


def _walks(recipe: Recipe, first: int, n: int) -> Iterator[tuple[str, Walk]]:
    """Walks in a number of worlds, the levels in turn, with the name of the world."""
    for number in range(n):
        level = recipe.levels[number % len(recipe.levels)]
        seed = first + number // len(recipe.levels)
        for walk in walks_in(level, seed):
            yield f"{level} {seed}", walk


def _fit(
    network: Network, walks: Sequence[Walk], recipe: Recipe
) -> Iterator[tuple[int, float]]:
    """Train; yield the number of a step and the mean loss, `POINTS` times."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=recipe.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: _rate(step, recipe.steps)
    )
    order = generator(recipe.seed, "walks")
    every = max(1, recipe.steps // POINTS)
    losses: list[float] = []
    for step in range(1, recipe.steps + 1):
        network.train()
        chosen = [walks[i] for i in order.integers(len(walks), size=recipe.batch_size)]
        loss = _loss(network, chosen)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), LARGEST_GRADIENT)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        if not math.isfinite(losses[-1]):
            advice = f"take less than learning_rate={recipe.learning_rate:g}"
            raise ConfigError(
                f"the loss is {losses[-1]} at step {step}; nothing was written; {advice}"
            )
        if step % every == 0 or step == recipe.steps:
            yield step, float(np.mean(losses[-every:]))


def _rate(step: int, n_steps: int) -> float:
    warm = max(1, WARM_UP * n_steps)
    return min((step + 1) / warm, (1 + math.cos(math.pi * step / n_steps)) / 2)


def _loss(network: Network, walks: Sequence[Walk]) -> torch.Tensor:
    """The loss of the next action, and that of the effect of the action taken."""
    batch = network.batch([(walk.lines, walk.moments) for walk in walks])
    wanted, taken, effects = targets(walks)
    advice_logits, effect_logits = network(batch)
    of_taken = effect_logits.gather(
        2, taken[..., None, None].expand(-1, -1, 1, effect_logits.shape[-1])
    ).squeeze(2)
    advised = cross_entropy(
        advice_logits.flatten(0, 1), wanted.flatten(), ignore_index=IGNORED
    )
    foreseen = cross_entropy(
        of_taken.flatten(0, 1), effects.flatten(), ignore_index=IGNORED
    )
    return advised + foreseen


def score(network: Network, walks: Sequence[tuple[str, Walk]]) -> Scores:
    """Score a network in walks, each with the name of its world."""
    player = Player(network)
    hits: list[int] = []
    foreseen: list[bool] = []
    counted: list[bool] = []
    for start in range(0, len(walks), BATCH):
        chosen = [walk for _, walk in walks[start : start + BATCH]]
        batch = network.batch([(walk.lines, walk.moments) for walk in chosen])
        with torch.inference_mode():
            advice, _ = network(batch)
        wanted, _, _ = targets(chosen)
        hits += (advice.argmax(-1) == wanted).sum(dim=1).tolist()

    for _, walk in walks:
        first, last = walk.moments[0].pose, walk.moments[-1].pose
        actions = [moment.action for moment in walk.moments[1:]]
        foreseen.append(player.follow(walk.lines, first, actions)[-1].pose == last)
        pose = first
        for action in actions:
            pose = pose.after("moves" if action == "forward" else action)
        counted.append(pose == last)

    worlds = [world for world, _ in walks]
    rng = generator(0, "babyai player")
    return Scores(
        actions=cluster_share(
            hits, worlds, rng, [len(walk.advice) for _, walk in walks]
        ),
        last_states=cluster_share(foreseen, worlds, rng),
        counted=cluster_share(counted, worlds, rng),
    )
