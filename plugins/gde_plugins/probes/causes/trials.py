"""The turns that causal tests ask again, each with its counterfactual."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gde.data.cell_map import Position
from gde.data.completion import ChatRequest
from gde.data.evidence import Evidence
from gde.data.probe import ProbeReport
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.parts.context import Context
from gde.seeding import derive, generator
from gde_plugins.probes.causes.cases import Case
from gde_plugins.probes.causes.changes import Trial
from gde_plugins.probes.causes.counterfactuals import (
    Counterfactual,
    Different,
    are_shown,
    counterfactual_of,
)
from gde_plugins.probes.causes.layers import Layer, Prompt, captured, load_layers
from gde_plugins.probes.causes.replay import (
    check_tokens,
    marked,
    recorded_request,
    request_for,
)
from gde_plugins.probes.config import CausesConfig

PROMPTS = 256
"""Maximum number of prompts for estimating directions."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplayedTurns:
    """The held-out turns of a run, and the layers that its probe has read."""

    config: CausesConfig
    context: Context
    evidence: Evidence
    reports: Sequence[ProbeReport]
    """Layers of the probe."""
    turn_of: dict[str, tuple[Trajectory, Turn]] = field(default_factory=dict)
    """Maps the identity of a request to its turn."""

    @cached_property
    def model(self) -> Any:
        """Return the white-box model whose activations the probe reads."""
        return self.context.model(self.reports[0].model)

    @property
    def classes(self) -> tuple[str, ...]:
        return self.reports[0].classes

    @cached_property
    def layers(self) -> list[Layer]:
        """Load each layer with its fitted probe and the activations of many prompts."""
        held_out = set(self.reports[0].rows)
        prompts = []
        for trajectory in self.evidence.trajectories:
            for turn in trajectory.turns:
                # The tested worlds must not make the directions that they test.
                if (str(trajectory.key), turn.index) in held_out:
                    continue
                replayable = self._marked(turn)
                if replayable is not None:
                    prompts.append(Prompt.of(trajectory, replayable))

        # Read in the order of the run, whatever the order of the draw.
        drawn = self.rng("prompts").permutation(len(prompts))[:PROMPTS]
        chosen = [prompts[i] for i in sorted(drawn.tolist())]
        return load_layers(self.context, self.model, self.reports, chosen)

    @cached_property
    def _turns(self) -> list[tuple[Trajectory, Turn]]:
        """Return the held-out turns that can be tested."""
        held_out = set(self.reports[0].rows)
        turns = []
        for trajectory in self.evidence.trajectories:
            for turn in trajectory.turns:
                is_held_out = (str(trajectory.key), turn.index) in held_out
                is_tested = is_held_out and turn.optimal
                replayable = self._marked(turn) if is_tested else None
                # Things are compared in turns that show all of them.
                if replayable and are_shown(trajectory, turn, self.config.things):
                    turns.append((trajectory, replayable))
        if not turns:
            things = ", ".join(self.config.things)
            raise GdeError(
                f"no held-out turn shows {things}, and has a known optimum and a prompt that can be asked again"
            )
        return turns

    def _marked(self, turn: Turn) -> Turn | None:
        """Return a turn with the tokens and the tested position of its answer.

        None if it lacks them or its state.
        """
        if turn.state is None:
            return None
        return marked(turn, self.config.position, self.model)

    async def trials(self, different: Different) -> list[Trial]:
        """Return one turn with its counterfactual from each of `cases` worlds."""
        # Worlds in random order, so that a small number of cases is a random sample of
        # them.
        rng = self.rng("trials", different)
        worlds: dict[str, list[tuple[Trajectory, Turn]]] = {}
        for trajectory, turn in self._turns:
            of_world = worlds.setdefault(trajectory.world.cluster, [])
            of_world.append((trajectory, turn))

        paired: list[tuple[Trajectory, Turn, Counterfactual]] = []
        for name in rng.permutation(sorted(worlds)):
            if len(paired) == self.config.cases:
                break
            turns = worlds[name]
            drawn = int(rng.integers(len(turns)))
            trajectory, turn = turns[drawn]
            counterfactual = counterfactual_of(trajectory, turn, different, rng)
            if counterfactual is not None:
                paired.append((trajectory, turn, counterfactual))

        if not paired:
            return []
        return await self._with_activations(different, paired)

    async def _with_activations(
        self,
        different: Different,
        paired: Sequence[tuple[Trajectory, Turn, Counterfactual]],
    ) -> list[Trial]:
        """Trials of these turns, with the activations of both prompts at every
        layer.
        """
        cases = []
        own_answers: list[Any] = []
        requests: list[ChatRequest] = []
        for trajectory, turn, counterfactual in paired:
            request = await recorded_request(self.context, trajectory, turn)
            served = turn.decision.completion
            if served and served.model != self.reports[0].model:
                await check_tokens(request, served.prompt_tokens, self.model)
            # Answers to the request are read as the agent would have read them in this
            # turn.
            self.turn_of[request.identity] = trajectory, turn
            case = Case(
                request=request,
                world=trajectory.world.cluster,
                predicted=counterfactual.best,
                statements=_statements(different, counterfactual),
            )
            cases.append(case)
            own_answers.append(turn.decision.completion)

            shown = replace(turn.observation, text=counterfactual.text)
            requests.append(await request_for(self.context, trajectory, turn, shown))

        answers = await asyncio.gather(*map(self.model.complete, requests))
        indices = tuple(layer.index for layer in self.layers)
        position = self.config.position
        plain = captured(self.model, own_answers, indices, position)
        patched: list[dict[tuple[int, str], Any]] = [{} for _ in answers]
        for place in self.config.places:
            found = captured(self.model, answers, indices, position, place)
            for of_trial, of_layers in zip(patched, found, strict=True):
                of_trial |= {(at, place): of_layers[at] for at in indices}

        counterfactuals = [counterfactual for _, _, counterfactual in paired]
        return list(map(Trial, cases, counterfactuals, requests, plain, patched))

    def rng(self, *what: str) -> np.random.Generator:
        """Return a generator of its own for each use."""
        seed = derive(self.evidence.seed, "metric", "causes")
        return generator(seed, *what)


def _statements(
    different: Different, counterfactual: Counterfactual
) -> dict[str, tuple[str, Position]]:
    """Return what the reasoning may state: true places, and the counterfactual one."""
    statements = {thing: (thing, true) for thing, true in counterfactual.true.items()}
    if different in statements:
        statements["counterfactual"] = (different, counterfactual.there)
    return statements
