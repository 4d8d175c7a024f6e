"""The metric `causes`: which of the things that a probe decodes cause what the agent does."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest
from gde.data.completion import ChatRequest, Completion
from gde.data.evidence import Evidence
from gde.data.probe import ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.parts.context import Context
from gde.seeding import derive, generator
from gde_plugins.probes.causes.changes import Layer, Trial, ablation, patching, steering
from gde_plugins.probes.causes.counterfactuals import Counterfactual, Different, counterfactual_of
from gde_plugins.probes.causes.effects import Case, Change, causal_effects, is_cause
from gde_plugins.probes.causes.interventions import prompt_of
from gde_plugins.probes.causes.replay import action_for, recorded_request, request_for
from gde_plugins.probes.config import CausesConfig
from gde_plugins.probes.fitting.places import PlaceWeights
from gde_plugins.probes.maps.probe import CogmapReadout

PROMPTS = 256
"""Most prompts from which the covariance of activations is estimated."""
NAME = "causes.effect"


@dataclass(frozen=True, kw_only=True)
class Causes:
    """Test on held-out turns what a linear probe of maps decodes.

    For the goal, the agent and the walls, turns are paired with counterfactuals that differ in that thing alone and
    have other optimal actions. The residual stream is steered, patched and ablated (see `changes`).

    - "causes.effect": increase of the share of predicted actions. An ablation predicts actions that are not optimal.
    - "causes.moved": share of answers whose action is another.
    - "causes.p": p value of the effect, corrected over the layers and doses of a change.
    - "causes.excess": effect beyond the strongest control.
    - "causes.called": 1 where all this makes the thing a cause, else 0.
    - "causes.normalised_shift": how far the distribution of actions moves towards the counterfactual's.
    - "causes.decoded": how often the probe finds a steered thing at its counterfactual place.
    """

    config: CausesConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """Run all tests, or say why there are none. Probes are fitted to whole runs, so parts of a run have none."""
        if evidence.part:
            return ()
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

        fitted = [report for report in reports if not report.reason]
        if not fitted:
            return [unmeasured(NAME, "share", f"{reports[0].fit.name}: {reports[0].reason}")]
        tests = _Tests(config=config, context=self.context, evidence=evidence, reports=fitted)
        return asyncio.run(tests.run())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tests:
    """The tests of one run."""

    config: CausesConfig
    context: Context
    evidence: Evidence
    reports: Sequence[ProbeReport]
    """Of the probe's layers."""
    turn_of: dict[str, tuple[Trajectory, Turn]] = field(default_factory=dict)
    """Identity of a request to the turn in which it was made."""

    async def run(self) -> list[Measurement]:
        """All tests of all things that the configuration names."""
        measurements = []
        for different in self.config.things:
            measurements += await self._test(different)
        return measurements

    async def _test(self, different: Different) -> list[Measurement]:
        trials = await self._trials(different)
        if not trials:
            reason = f"no held-out turn has a counterfactual with another {different} in which other actions are best"
            return [replace(unmeasured(NAME, "share", reason), where={"thing": different})]

        found = await self._effects(trials, [*patching(self.layers, trials, different)])
        decoded = []
        # A probe has a direction from place to place for things that are in one cell, as walls are not.
        if different != "wall":
            doses = self.config.doses
            steered = [*steering(self.layers, trials, different, self.classes, doses, self._rng("steer"))]
            found += await self._effects(trials, [change for change, _ in steered])
            decoded = [measurement for _, measurement in steered if measurement is not None]
            ablated = [*ablation(self.layers, len(trials), different, self.classes, self._rng("ablate"))]
            found += await self._effects(trials, ablated, harmful=True)
        return [replace(each, name=f"causes.{each.name}") for each in (*found, *decoded)]

    async def _effects(
        self, trials: Sequence[Trial], changes: Sequence[Change], harmful: bool = False
    ) -> list[Measurement]:
        """Measure the changes of one test.

        A harmful one takes something away. It predicts whatever is not optimal, and no counterfactual's actions.
        """
        cases = [trial.case for trial in trials]
        counterfactuals = [trial.counterfactual_request for trial in trials]
        if harmful:
            cases = [self._harmed(case) for case in cases]
            counterfactuals = []
        found = await causal_effects(
            self.model, cases, changes, self._read, self._rng("effects"), self.config.samples, counterfactuals
        )
        verdicts = []
        for change in changes:
            if not change.control and change.interventions:
                value = float(is_cause(found, change))
                verdict = Measurement(name="called", value=value, unit="share", n=len(cases), where=change.where)
                verdicts.append(verdict)
        return [*found, *verdicts]

    def _harmed(self, case: Case) -> Case:
        """The case with the actions of an agent that no longer knows what is optimal."""
        _, turn = self.turn_of[case.request.identity]
        actions = {*(turn.observation.actions or ()), None}
        return replace(case, predicted=frozenset(actions - {*(turn.optimal or ())}))

    async def _read(self, case: Case, answer: Completion) -> str | None:
        trajectory, turn = self.turn_of[case.request.identity]
        return await action_for(self.context, trajectory, turn, answer)

    @cached_property
    def model(self) -> Any:
        """The agent's white box."""
        _, turn = self._turns[0]
        completion = turn.decision.completion
        assert completion is not None
        return self.context.model(completion.model)

    @property
    def classes(self) -> tuple[str, ...]:
        return self.reports[0].classes

    @cached_property
    def layers(self) -> list[Layer]:
        """Each layer with its probe, as fitted in the run, and with activations of many prompts."""
        answers: list[Completion | None] = []
        for trajectory in self.evidence.trajectories:
            answers += [turn.decision.completion for turn in trajectory.turns if self._is_marked(turn)]
        chosen = self._rng("prompts").permutation(len(answers))[:PROMPTS]
        indices = tuple(report.fit.layer for report in self.reports)
        captured = self._capture([answers[i] for i in sorted(chosen)], indices)

        layers = []
        for report in self.reports:
            fit = report.fit
            readout = self.context.readout(fit.probe, fit.name)
            if not isinstance(readout, CogmapReadout) or not isinstance(readout.weights, PlaceWeights):
                raise GdeError(f"{fit.name}: wanted a linear probe of maps, got {type(readout).__name__}")
            among = np.array([record[fit.layer] for record in captured])
            layer = Layer(index=fit.layer, position=fit.position, readout=readout, weights=readout.weights, among=among)
            layers.append(layer)
        return layers

    @cached_property
    def _turns(self) -> list[tuple[Trajectory, Turn]]:
        """The held-out turns that can be tested."""
        held_out = set(self.reports[0].rows)
        turns = []
        for trajectory in self.evidence.trajectories:
            for turn in trajectory.turns:
                row = str(trajectory.key), turn.index
                if row in held_out and self._is_marked(turn) and turn.optimal:
                    turns.append((trajectory, turn))
        if not turns:
            raise GdeError("no held-out turn has a known optimum and a prompt that can be asked again")
        return turns

    def _is_marked(self, turn: Turn) -> bool:
        completion = turn.decision.completion
        return completion is not None and turn.state is not None and self.config.position in completion.positions

    async def _trials(self, different: Different) -> list[Trial]:
        """One turn, with its counterfactual, of each of as many worlds as are wanted."""
        rng = self._rng("trials", different)
        worlds: dict[str, list[tuple[Trajectory, Turn]]] = {}
        for trajectory, turn in self._turns:
            worlds.setdefault(trajectory.world.cluster, []).append((trajectory, turn))

        paired: list[tuple[Trajectory, Turn, Counterfactual]] = []
        for name in rng.permutation(sorted(worlds)):
            if len(paired) == self.config.cases:
                break
            trajectory, turn = worlds[name][int(rng.integers(len(worlds[name])))]
            counterfactual = counterfactual_of(trajectory, turn, different, rng)
            if counterfactual is not None:
                paired.append((trajectory, turn, counterfactual))
        return await self._with_activations(paired) if paired else []

    async def _with_activations(self, paired: Sequence[tuple[Trajectory, Turn, Counterfactual]]) -> list[Trial]:
        cases = []
        requests: list[ChatRequest] = []
        for trajectory, turn, counterfactual in paired:
            request = await recorded_request(self.context, trajectory, turn)
            self.turn_of[request.identity] = trajectory, turn
            cases.append(Case(request=request, world=trajectory.world.cluster, predicted=counterfactual.best))
            shown = replace(turn.observation, text=counterfactual.text)
            requests.append(await request_for(self.context, trajectory, turn, shown))

        answers = await asyncio.gather(*map(self.model.complete, requests))
        indices = tuple(layer.index for layer in self.layers)
        plain = self._capture([turn.decision.completion for _, turn, _ in paired], indices)
        patched = self._capture(answers, indices)
        trials = []
        for i, (_, _, counterfactual) in enumerate(paired):
            trial = Trial(
                case=cases[i],
                counterfactual=counterfactual,
                counterfactual_request=requests[i],
                plain=plain[i],
                patched=patched[i],
            )
            trials.append(trial)
        return trials

    def _capture(self, answers: Sequence[Any], layers: tuple[int, ...]) -> list[dict[int, NDArray[np.float32]]]:
        """Of each answer's prompt, layer to activations (tokens, width)."""
        request = CaptureRequest(layers=layers, positions=(self.config.position,))
        records = self.model.capture([prompt_of(answer) for answer in answers], request)
        return [{layer: record.values[layer, self.config.position] for layer in layers} for record in records]

    def _rng(self, *what: str) -> np.random.Generator:
        return generator(derive(self.evidence.seed, "metric", "causes"), *what)
