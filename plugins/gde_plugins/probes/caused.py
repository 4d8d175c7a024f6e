"""Which of what a probe decodes is a cause of what the agent does: causal tests on the turns of a run."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from gde_plugins.probes.asked_again import action_upon, request_of, request_when_shown
from gde_plugins.probes.causal_tests import Layer, Trial, ablation, patching, steering
from gde_plugins.probes.causes import Case, Change, Read, causal_effects, is_cause
from gde_plugins.probes.cogmap import CogmapReadout
from gde_plugins.probes.config import CausesConfig
from gde_plugins.probes.interventions import prompt_of
from gde_plugins.probes.places import PlaceWeights
from gde_plugins.probes.twins import Different, Twin, twin_of

PROMPTS = 256
"""Prompts from which the way in which activations vary is told, at most."""
NAME = "causes.effect"


@dataclass(frozen=True, kw_only=True)
class Causes:
    """Causal tests of what a linear probe of maps decodes, on held-out turns.

    For the goal, the agent and the walls, turns are paired with twins that differ in that alone and in which other
    actions are best (`twins`). "causes.effect" is by how much more often the twin's best actions are taken (of an
    ablation: actions that are not optimal, or none) with a change of the residual stream than without, "causes.moved"
    how often the action is another, "causes.p" its test, corrected over the layers and doses of a change,
    "causes.excess" the effect beyond the control that comes nearest, and "causes.called" whether all this makes it a
    cause: 1 or 0. "causes.way" is how much of the way from the turn's distribution of actions to its twin's a change
    makes that should bring it there, whichever the actions are. "causes.decoded" is how often the probe finds the thing
    where it was steered to. See `causes.causal_effects` and `causal_tests`.
    """

    config: CausesConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """All tests, or why there are none. Parts of a run have none: probes are fitted to the whole."""
        if evidence.part:
            return ()
        reports = self._reports(evidence)
        if isinstance(reports, str):
            return [unmeasured(NAME, "share", reports)]
        return asyncio.run(_Tests(config=self.config, context=self.context, evidence=evidence, reports=reports).all())

    def _reports(self, evidence: Evidence) -> list[ProbeReport] | str:
        """Those of the probe's layers, or why there are none."""
        config = self.config
        wanted = (config.probe, config.variant, config.mark, "none")
        arms = [(one.arm.probe, one.arm.variant, one.arm.mark, one.arm.control) for one in evidence.probe_reports]
        reports = [one for one, arm in zip(evidence.probe_reports, arms, strict=True) if arm == wanted]
        if not reports:
            return (
                f"no probe {config.probe!r} of variant {config.variant!r} has read the mark {config.mark!r} in this"
                f" run: choose --probe {config.probe} --set {config.probe}.variants={config.variant}"
            )
        fitted = [one for one in reports if not one.reason]
        return fitted or f"{reports[0].arm.name}: {reports[0].reason}"


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tests:
    """The tests of one run."""

    config: CausesConfig
    context: Context
    evidence: Evidence
    reports: Sequence[ProbeReport]

    async def all(self) -> list[Measurement]:
        """The tests of everything that the configuration names."""
        return [each for different in self.config.things for each in await self._of(different)]

    async def _of(self, different: Different) -> list[Measurement]:
        trials = await self._trials(different)
        if not trials:
            reason = f"no held-out turn has a twin with another {different} in which other actions are best"
            return [replace(unmeasured(NAME, "share", reason), where={"thing": different})]
        tests: list[tuple[Sequence[Change], bool]] = [([*patching(self.layers, trials, different)], False)]
        decoded: list[Measurement] = []
        if different != "wall":  # a probe of one place for each cell has a direction from place to place for things
            steered = [*steering(self.layers, trials, different, self.classes, self.config.doses, self._rng("steer"))]
            decoded = [measured for _, measured in steered if measured]
            ablated = [*ablation(self.layers, len(trials), different, self.classes, self._rng("ablate"))]
            tests += [([change for change, _ in steered], False), (ablated, True)]
        found = [each for changes, harm in tests for each in await self._effects(trials, changes, harm)]
        return [replace(each, name=f"causes.{each.name}") for each in (*found, *decoded)]

    async def _effects(self, trials: Sequence[Trial], changes: Sequence[Change], harm: bool) -> list[Measurement]:
        """Of the changes of one test; `harm` is predicted to bring about whatever is not optimal."""
        cases = [_harmed(one.case, self._turn_of[one.case.request.identity][1]) if harm else one.case for one in trials]
        twins = () if harm else [one.twin_request for one in trials]
        found = await causal_effects(
            self.model, cases, changes, self._read, self._rng("effects"), self.config.samples, twins
        )
        called = [
            Measurement(
                name="called", value=float(is_cause(found, change)), unit="share", n=len(cases), where=change.where
            )
            for change in changes
            if not change.control and change.interventions
        ]
        return [*found, *called]

    @cached_property
    def _turn_of(self) -> dict[str, tuple[Trajectory, Turn]]:
        """Identity of a request to the turn in which it was made."""
        return {}

    @property
    def _read(self) -> Read:
        async def read(case: Case, answer: Completion) -> str | None:
            trajectory, turn = self._turn_of[case.request.identity]
            return await action_upon(self.context, trajectory, turn, answer)

        return read

    @cached_property
    def model(self) -> Any:
        """The white box that the agent asks, as this metric asks it."""
        completion = self._turns[0][1].decision.completion
        assert completion is not None
        return self.context.model(completion.model)

    @property
    def classes(self) -> tuple[str, ...]:
        return self.reports[0].classes

    @cached_property
    def layers(self) -> list[Layer]:
        """Each with its probe, as fitted in the run, and how activations vary there."""
        every = [(one, turn) for one in self.evidence.trajectories for turn in one.turns if self._marked(turn)]
        chosen = self._rng("prompts").permutation(len(every))[:PROMPTS]
        indices = tuple(report.arm.layer for report in self.reports)
        captured = self._captured([every[i][1].decision.completion for i in sorted(chosen)], indices)
        layers = []
        for report in self.reports:
            readout = self.context.readout(report.arm.probe, report.arm.name)
            if not isinstance(readout, CogmapReadout) or not isinstance(readout.weights, PlaceWeights):
                raise GdeError(f"{report.arm.name}: wanted a linear probe of maps, got {type(readout).__name__}")
            among = np.array([one[report.arm.layer] for one in captured])
            mark, index = report.arm.mark, report.arm.layer
            layers.append(Layer(index=index, mark=mark, readout=readout, weights=readout.weights, among=among))
        return layers

    @cached_property
    def _turns(self) -> list[tuple[Trajectory, Turn]]:
        """The held-out turns, those of a world together."""
        held_out = set(self.reports[0].rows)
        found = [
            (one, turn)
            for one in self.evidence.trajectories
            for turn in one.turns
            if (str(one.key), turn.index) in held_out and self._marked(turn) and turn.optimal
        ]
        if not found:
            raise GdeError("no held-out turn has a known optimum and a prompt that can be asked again")
        return found

    def _marked(self, turn: Turn) -> bool:
        completion = turn.decision.completion
        return completion is not None and turn.state is not None and self.config.mark in completion.marks

    async def _trials(self, different: Different) -> list[Trial]:
        """One turn of each of as many worlds as are wanted."""
        rng, worlds = self._rng("trials", different), dict[str, list[tuple[Trajectory, Turn]]]()
        for one in self._turns:
            worlds.setdefault(one[0].world.cluster, []).append(one)
        paired: list[tuple[Trajectory, Turn, Twin]] = []
        for name in rng.permutation(sorted(worlds)):
            if len(paired) == self.config.cases:
                break
            trajectory, turn = worlds[name][int(rng.integers(len(worlds[name])))]
            if twin := twin_of(trajectory, turn, different, rng):
                paired.append((trajectory, turn, twin))
        return await self._with_activations(paired)

    async def _with_activations(self, paired: Sequence[tuple[Trajectory, Turn, Twin]]) -> list[Trial]:
        asked = [await self._asked(*each) for each in paired]
        twins = await asyncio.gather(*(self.model.complete(request) for _, request in asked))
        indices = tuple(layer.index for layer in self.layers) if paired else ()
        plain = self._captured([turn.decision.completion for _, turn, _ in paired], indices)
        patched = self._captured(twins, indices)
        return [
            Trial(case=case, twin=twin, twin_request=request, plain=own, patched=other)
            for (case, request), (_, _, twin), own, other in zip(asked, paired, plain, patched, strict=True)
        ]

    async def _asked(self, trajectory: Trajectory, turn: Turn, twin: Twin) -> tuple[Case, ChatRequest]:
        request = await request_of(self.context, trajectory, turn)
        self._turn_of[request.identity] = trajectory, turn
        shown = replace(turn.observation, text=twin.text)
        other = await request_when_shown(self.context, trajectory, turn, shown)
        return Case(request=request, world=trajectory.world.cluster, predicted=twin.best), other

    def _captured(self, answers: Sequence[Any], layers: tuple[int, ...]) -> list[dict[int, NDArray[np.float32]]]:
        """Of each prompt, layer to (tokens, width)."""
        request = CaptureRequest(layers=layers, marks=(self.config.mark,))
        records = self.model.capture([prompt_of(one) for one in answers], request)
        return [{layer: one.values[layer, self.config.mark] for layer in layers} for one in records]

    def _rng(self, *what: str) -> np.random.Generator:
        return generator(derive(self.evidence.seed, "metric", "causes"), *what)


def _harmed(case: Case, turn: Turn) -> Case:
    """The case with the actions predicted of an agent that no longer knows."""
    actions = {*(turn.observation.actions or ()), None}
    return replace(case, predicted=frozenset(actions - {*(turn.optimal or ())}))
