"""The metric `causes`: does what a probe decodes cause the agent's actions?"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gde.data.cell_map import Position
from gde.data.completion import ChatRequest, Completion
from gde.data.evidence import Evidence
from gde.data.probe import ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.parts.context import Context
from gde.seeding import derive, generator
from gde_plugins.probes.causes.cases import Case, Change
from gde_plugins.probes.causes.changes import (
    Trial,
    ablation,
    by_means,
    have_means,
    patching,
    steering,
    steering_by_means,
)
from gde_plugins.probes.causes.class_means import FEWEST
from gde_plugins.probes.causes.counterfactuals import (
    Counterfactual,
    Different,
    counterfactual_of,
)
from gde_plugins.probes.causes.effects import Replays, causal_effects, is_cause
from gde_plugins.probes.causes.layers import Layer, Prompt, captured, load_layers
from gde_plugins.probes.causes.replay import action_for, recorded_request, request_for
from gde_plugins.probes.config import CausesConfig

PROMPTS = 256
"""Maximum number of prompts for estimating directions."""
NAME = "causes.effect"


@dataclass(frozen=True, kw_only=True)
class Causes:
    """Test the directions of a linear map probe on held-out turns.

    For the goal, the agent and the walls, turns are paired with counterfactuals that
    differ in that thing alone and have other optimal actions. The residual stream is
    steered, patched and ablated (see `changes`).

    - "causes.effect": increase of the share of predicted actions. An ablation predicts
      actions that are not optimal.
    - "causes.direct" and "causes.indirect": the effect beside the reasoning and through
      it.
    - "causes.written.*": how often the reasoning writes the true place of agent and
      goal, or the counterfactual place of the changed one.
    - "causes.moved": share of answers whose action is another.
    - "causes.p": p value of the effect, corrected over the layers and doses of a
      change.
    - "causes.excess": effect beyond the strongest control.
    - "causes.called": 1 where all this makes the thing a cause, else 0.
    - "causes.normalised_shift": how far the distribution of actions moves towards the
      counterfactual's.
    - "causes.decoded": how often the probe finds a steered thing at its counterfactual
      place.
    """

    config: CausesConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """Run all tests, or say why there are none. Probes are fitted to whole runs, so
        parts of a run have none.
        """
        if evidence.part:
            return ()
        # Controls of the probe decode nothing to be tested.
        config = self.config
        wanted = (config.probe, config.variant, config.position, "none")
        reports = []
        for report in evidence.probe_reports:
            fit = report.fit
            if (fit.probe, fit.variant, fit.position, fit.control) == wanted:
                reports.append(report)

        if not reports:
            reason = (
                f"no probe {config.probe!r} of variant {config.variant!r} has read position {config.position!r}:"
                f" choose --probe {config.probe} --set {config.probe}.variants={config.variant}"
            )
            return [unmeasured(NAME, "share", reason)]

        # A report with a reason is of a probe that could not be fitted.
        fitted = [report for report in reports if not report.reason]
        if not fitted:
            return [
                unmeasured(NAME, "share", f"{reports[0].fit.name}: {reports[0].reason}")
            ]
        tests = _Tests(
            config=config, context=self.context, evidence=evidence, reports=fitted
        )
        return asyncio.run(tests.run())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tests:
    """The tests of one run."""

    config: CausesConfig
    context: Context
    evidence: Evidence
    reports: Sequence[ProbeReport]
    """Layers of the probe."""
    turn_of: dict[str, tuple[Trajectory, Turn]] = field(default_factory=dict)
    """Maps the identity of a request to its turn."""
    action_of: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """Maps the identities of a request and of the answered one to the action."""

    async def run(self) -> list[Measurement]:
        """Run all tests of all configured things."""
        measurements = []
        for different in self.config.things:
            measurements += await self._test(different)
        return measurements

    async def _test(self, different: Different) -> list[Measurement]:
        """Patch, steer and ablate one thing."""
        trials = await self._trials(different)
        if not trials:
            reason = f"no held-out turn has a counterfactual with another {different} in which other actions are best"
            nothing = unmeasured(NAME, "share", reason)
            return [replace(nothing, where={"thing": different})]

        patched = [*patching(self.layers, trials, different)]
        found = await self._effects(trials, patched)

        # Only things that are in one cell, as walls are not, have a direction from
        # place to place.
        if different != "wall":
            found += await self._steer(different, trials)
            rng = self._rng("ablate")
            ablated = [
                *ablation(self.layers, len(trials), different, self.classes, rng)
            ]
            found += await self._effects(trials, ablated, harmful=True)
        return [replace(each, name=f"causes.{each.name}") for each in found]

    async def _steer(
        self, different: Different, trials: Sequence[Trial]
    ) -> list[Measurement]:
        """Steer one thing along both kinds of directions."""
        with_means = have_means(self.layers, trials, different)
        found = []
        if not with_means:
            reason = f"no turn's row and column of the {different} have {FEWEST} training prompts; run more episodes"
            nothing = unmeasured("effect", "share", reason)
            found.append(replace(nothing, where={"change": by_means(different)}))

        for steer, steered in ((steering, trials), (steering_by_means, with_means)):
            if not steered:
                continue
            rng = self._rng("steer")
            changes = []
            decoded = []
            for change, of_probe in steer(
                self.layers, steered, different, self.classes, self.config.doses, rng
            ):
                changes.append(change)
                if of_probe is not None:
                    decoded.append(of_probe)
            found += await self._effects(steered, changes)
            found += decoded
        return found

    async def _effects(
        self,
        trials: Sequence[Trial],
        changes: Sequence[Change],
        harmful: bool = False,
    ) -> list[Measurement]:
        """Measure the changes of one test.

        A harmful one takes something away. It predicts whatever is not optimal, and no
        counterfactual's actions.
        """
        cases = [trial.case for trial in trials]
        counterfactuals = [trial.counterfactual_request for trial in trials]
        if harmful:
            cases = [self._harmed(case) for case in cases]
            counterfactuals = []

        replays = Replays(
            model=self.model,
            cases=cases,
            read=self._read,
            samples=self.config.samples,
            counterfactuals=counterfactuals,
            pattern=self.config.reasoning,
        )
        found = await causal_effects(replays, changes, self._rng("effects"))
        verdicts = []
        for change in changes:
            # Controls, and prompts that replace the case's own, are not on trial.
            if change.interventions and not change.control:
                verdict = Measurement(
                    name="called",
                    value=float(is_cause(found, change)),
                    unit="share",
                    n=len(cases),
                    where=change.where,
                )
                verdicts.append(verdict)
        return [*found, *verdicts]

    def _harmed(self, case: Case) -> Case:
        """The case with the actions of an agent that no longer knows what is
        optimal.
        """
        _, turn = self.turn_of[case.request.identity]
        possible = {*(turn.observation.actions or ()), None}
        optimal = turn.optimal or ()
        return replace(case, predicted=frozenset(possible.difference(optimal)))

    async def _read(self, case: Case, answer: Completion) -> str | None:
        """Return the action of an answer to a case."""
        # Many changes leave an answer as it is, and reading it begins an agent anew.
        key = case.request.identity, answer.request
        if key not in self.action_of:
            trajectory, turn = self.turn_of[case.request.identity]
            action = await action_for(self.context, trajectory, turn, answer)
            self.action_of[key] = action
        return self.action_of[key]

    @cached_property
    def model(self) -> Any:
        """Return the agent's white-box model."""
        _, turn = self._turns[0]
        completion = turn.decision.completion
        assert completion is not None
        return self.context.model(completion.model)

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
                is_held_out = (str(trajectory.key), turn.index) in held_out
                # The tested worlds must not make the directions that they test.
                if self._is_marked(turn) and not is_held_out:
                    prompts.append(Prompt.of(trajectory, turn))

        # Read in the order of the run, whatever the order of the draw.
        drawn = self._rng("prompts").permutation(len(prompts))[:PROMPTS]
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
                if is_held_out and turn.optimal and self._is_marked(turn):
                    turns.append((trajectory, turn))
        if not turns:
            raise GdeError(
                "no held-out turn has a known optimum and a prompt that can be asked again"
            )
        return turns

    def _is_marked(self, turn: Turn) -> bool:
        """Return whether a turn has a recorded state and the tested position."""
        completion = turn.decision.completion
        if completion is None or turn.state is None:
            return False
        return self.config.position in completion.positions

    async def _trials(self, different: Different) -> list[Trial]:
        """Return one turn with its counterfactual from each of `cases` worlds."""
        # Worlds in random order, so that a small number of cases is a random sample of
        # them.
        rng = self._rng("trials", different)
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
        patched = captured(self.model, answers, indices, position)

        counterfactuals = [counterfactual for _, _, counterfactual in paired]
        return list(map(Trial, cases, counterfactuals, requests, plain, patched))

    def _rng(self, *what: str) -> np.random.Generator:
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
