"""The metric `direction`: does a vector of the user's own cause the agent's actions?"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.parts.context import Context
from gde.seeding import derive, generator, pick
from gde_plugins.probes.causes.cases import Case, Change, at_place
from gde_plugins.probes.causes.effects import Replays, causal_effects, verdict
from gde_plugins.probes.causes.interventions import (
    Direction,
    Where,
    ablate,
    orthonormal,
    patch,
    random_direction,
    steer,
)
from gde_plugins.probes.causes.layers import captured
from gde_plugins.probes.causes.replay import (
    AsInItsTurn,
    check_tokens,
    marked,
    recorded_request,
)
from gde_plugins.probes.config import DirectionConfig, layers_of
from gde_plugins.probes.course.turns import NO_MODEL, read_model

NAME = "direction.effect"
NO_FILE = "no direction is given: set direction.file=FILE, of .npy or .safetensors"
NO_TURN = "no turn lists its actions and has a prompt that can be asked again"
Played = tuple[Trajectory, Turn]


@dataclass(frozen=True)
class OwnDirection:
    """Ask turns again with the vector added, removed or put in at one place.

    - "direction.effect": increase of the share of predicted actions, and all else as
      `gde_plugins.probes.causes.effects.causal_effects` gives it. Control: a random
      vector of the same length.
    - "direction.called": 1 where this makes the vector a cause, else 0.
    """

    config: DirectionConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """Test the vector, or say why not. A part of a run is not tested."""
        if evidence.part:
            return ()
        return asyncio.run(self._test(evidence))

    async def _test(self, evidence: Evidence) -> list[Measurement]:
        config = self.config
        if config.file is None:
            return [unmeasured(NAME, NO_FILE)]
        model = read_model(self.context, config.weights, evidence.trajectories)
        if model is None:
            return [unmeasured(NAME, NO_MODEL)]
        config.check_model(model.info)
        vector = read_vector(config.file, model.info.width_at(config.place))
        turns = self._turns(evidence, model)
        if not turns:
            return [unmeasured(NAME, NO_TURN)]

        cases = []
        turn_of = {}
        for trajectory, turn in turns:
            request = await recorded_request(self.context, trajectory, turn)
            served = turn.decision.completion
            if served and served.model != config.weights:
                await check_tokens(request, served.prompt_tokens, model)
            turn_of[request.identity] = trajectory, turn
            predicted = frozenset({config.action} if config.action else _others(turn))
            world = trajectory.world.cluster
            cases.append(Case(request=request, world=world, predicted=predicted))

        means = self._means(model, turns)
        n_tokens = len(next(iter(means.values())))
        if vector.ndim > 1 and len(vector) not in (1, n_tokens):
            raise GdeError(
                f"direction.file: wanted a row for each of {n_tokens} tokens of the position"
                f" {config.position}, got {len(vector)}"
            )
        changes = [*self._changes(vector, means, len(cases))]
        replays = Replays(
            model=model,
            cases=cases,
            read=AsInItsTurn(context=self.context, turn_of=turn_of),
            samples=config.samples,
        )
        found = await causal_effects(replays, changes, self._rng("effects"))
        for change in changes:
            if not change.control:
                found.append(verdict(found, change, len(cases)))
        return [replace(one, name=f"direction.{one.name}") for one in found]

    def _turns(self, evidence: Evidence, model: Any) -> list[Played]:
        """One turn of each of `cases` worlds that can be asked again."""
        worlds: dict[str, list[Played]] = {}
        for trajectory in evidence.trajectories:
            for turn in trajectory.turns:
                replayable = marked(turn, self.config.position, model)
                if replayable and (self.config.action or turn.observation.actions):
                    of_world = worlds.setdefault(trajectory.world.cluster, [])
                    of_world.append((trajectory, replayable))

        rng = self._rng("turns")
        chosen = rng.permutation(sorted(worlds))[: self.config.cases]
        return [pick(worlds[world], rng) for world in chosen]

    def _means(self, model: Any, turns: Sequence[Played]) -> Mapping[int, Direction]:
        """Layer to the (tokens, width) mean activations of the turns' prompts."""
        layers = layers_of(self.config.layer, model.info)
        answers: list[Any] = [turn.decision.completion for _, turn in turns]
        records = captured(
            model, answers, layers, self.config.position, self.config.place
        )
        means = {}
        for layer in layers:
            of_turns = np.array([record[layer] for record in records])
            means[layer] = np.asarray(of_turns.mean(axis=0), dtype=np.float32)
        return means

    def _changes(
        self, vector: Direction, means: Mapping[int, Direction], n: int
    ) -> Iterator[Change]:
        """The changes of each layer, and their controls."""
        config = self.config
        for (layer, mean), control in product(means.items(), ("", "random direction")):
            where = Where(layer=layer, position=config.position, place=config.place)
            along = np.broadcast_to(vector, mean.shape)
            if control:
                along = random_direction(along, self._rng("random"))
            made = {
                "ablation": ablate(where, orthonormal([along]), mean),
                "patching": patch(where, along),
            }
            for name in config.changes:
                doses = config.doses if name == "steering" else (1.0,)
                for dose in doses:
                    yield Change(
                        name=at_place(name, config.place),
                        layer=layer,
                        dose=dose,
                        control=control,
                        interventions=(made.get(name) or steer(where, along, dose),)
                        * n,
                    )

    def _rng(self, what: str) -> np.random.Generator:
        """A generator of its own for each use."""
        return generator(derive(self.context.seed, "direction"), what)


def read_vector(file: Path, width: int) -> Direction:
    """(width,) or (tokens, width) the vector of the file.

    Raises:
        GdeError: it holds no such array, several, or zeros.
    """
    try:
        found = [np.asarray(each, dtype=np.float32) for each in _arrays(file)]
    except (ValueError, OSError, SafetensorError) as error:
        raise GdeError(
            f"direction.file: wanted one array of numbers (.npy or .safetensors), cannot read {file}"
        ) from error
    shapes = ", ".join(str(each.shape) for each in found)
    if len(found) != 1 or found[0].ndim not in (1, 2) or found[0].shape[-1] != width:
        raise GdeError(
            f"direction.file: wanted one array of width {width}, got {shapes or 'none'}"
        )
    (vector,) = found
    if not np.isfinite(vector).all() or not vector.any(axis=-1).all():
        raise GdeError("direction.file: wanted finite numbers that are not all zero")
    return vector


def _arrays(file: Path) -> list[Any]:
    if file.suffix == ".npy":
        return [np.load(file, allow_pickle=False)]
    return [*load_file(file).values()]


def _others(turn: Turn) -> set[str | None]:
    """All outcomes of a turn but the action that was taken."""
    return {*(turn.observation.actions or ()), None} - {turn.decision.action}
