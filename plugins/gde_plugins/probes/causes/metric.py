"""The metric `causes`: does what a probe decodes cause the agent's actions?"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.parts.context import Context
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
from gde_plugins.probes.causes.counterfactuals import Different
from gde_plugins.probes.causes.effects import Replays, causal_effects, verdict
from gde_plugins.probes.causes.pursued import pursued
from gde_plugins.probes.causes.replay import AsInItsTurn
from gde_plugins.probes.causes.trials import ReplayedTurns
from gde_plugins.probes.config import CausesConfig

NAME = "causes.effect"


@dataclass(frozen=True)
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
    - "causes.decoded": how often the probe finds a steered thing at its counterfactual
      place.
    - "causes.pursued": 1 if the way taken follows the place of a thing, in the prompt or
      in the activations, else 0, see `pursued`.
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
                f" add the probe {config.probe}, and set {config.probe}.variants={config.variant}"
                f" {config.probe}.turns=all"
            )
            return [unmeasured(NAME, reason)]

        # A report with a reason is of a probe that could not be fitted.
        fitted = [report for report in reports if not report.reason]
        if not fitted:
            return [unmeasured(NAME, f"{reports[0].fit.name}: {reports[0].reason}")]
        turns = ReplayedTurns(
            config=config, context=self.context, evidence=evidence, reports=fitted
        )
        return asyncio.run(_Tests(config=config, turns=turns).run())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tests:
    """The tests of one run."""

    config: CausesConfig
    turns: ReplayedTurns

    @cached_property
    def read(self) -> AsInItsTurn:
        """Reads the answers, each once."""
        return AsInItsTurn(context=self.turns.context, turn_of=self.turns.turn_of)

    async def run(self) -> list[Measurement]:
        """Run all tests of all configured things."""
        measurements = []
        # One can go to a thing, but not to oneself or to a wall.
        ends = {*self.config.things} - {"agent", "wall"}
        tested = await asyncio.gather(*map(self._test, self.config.things))
        for different, found in zip(self.config.things, tested, strict=True):
            measurements += found
            if different in ends:
                measurements += pursued(different, found, len(ends))
        return [replace(each, name=f"causes.{each.name}") for each in measurements]

    async def _test(self, different: Different) -> list[Measurement]:
        """Patch, steer and ablate one thing."""
        trials = await self.turns.trials(different)
        if not trials:
            reason = f"no held-out turn has a counterfactual with another {different} in which other actions are best"
            return [unmeasured("effect", reason, {"thing": different})]

        tests = [self._patch]
        # A probe knows no class of other things, and walls are in many cells: they have
        # no direction from place to place.
        if different in ("goal", "agent"):
            tests += [self._steer, self._ablate]
        found = await asyncio.gather(*(test(different, trials) for test in tests))
        return [*chain.from_iterable(found)]

    async def _patch(
        self, different: Different, trials: Sequence[Trial]
    ) -> list[Measurement]:
        """Patch in the activations of the counterfactuals."""
        places = self.config.places
        patched = [*patching(self.turns.layers, trials, different, places)]
        return await self._effects(trials, patched)

    async def _steer(
        self, different: Different, trials: Sequence[Trial]
    ) -> list[Measurement]:
        """Steer one thing along both kinds of directions."""
        with_means = have_means(self.turns.layers, trials, different)
        found = []
        if not with_means:
            reason = f"no turn's row and column of the {different} have {FEWEST} training prompts; run more episodes"
            found.append(unmeasured("effect", reason, {"change": by_means(different)}))

        for steer, steered in ((steering, trials), (steering_by_means, with_means)):
            if not steered:
                continue
            rng = self.turns.rng("steer")
            changes = []
            decoded = []
            for change, of_probe in steer(
                self.turns.layers,
                steered,
                different,
                self.turns.classes,
                self.config.doses,
                rng,
            ):
                changes.append(change)
                if of_probe is not None:
                    decoded.append(of_probe)
            found += await self._effects(steered, changes)
            found += decoded
        return found

    async def _ablate(
        self, different: Different, trials: Sequence[Trial]
    ) -> list[Measurement]:
        """Remove what the probe reads of one thing."""
        layers = self.turns.layers
        rng = self.turns.rng("ablate")
        ablated = [*ablation(layers, len(trials), different, self.turns.classes, rng)]
        return await self._effects(trials, ablated, harmful=True)

    async def _effects(
        self,
        trials: Sequence[Trial],
        changes: Sequence[Change],
        harmful: bool = False,
    ) -> list[Measurement]:
        """Measure the changes of one test.

        A harmful one takes something away. It predicts whatever is not optimal.
        """
        cases = [trial.case for trial in trials]
        if harmful:
            cases = [self._harmed(case) for case in cases]

        replays = Replays(
            model=self.turns.model,
            cases=cases,
            read=self.read,
            samples=self.config.samples,
            pattern=self.config.reasoning,
        )
        found = await causal_effects(replays, changes, self.turns.rng("effects"))
        verdicts = []
        for change in changes:
            # Controls, and prompts that replace the case's own, are not on trial.
            if change.interventions and not change.control:
                verdicts.append(verdict(found, change, len(cases)))
        return [*found, *verdicts]

    def _harmed(self, case: Case) -> Case:
        """The case with the actions of an agent that no longer knows what is
        optimal.
        """
        _, turn = self.turns.turn_of[case.request.identity]
        possible = {*(turn.observation.actions or ()), None}
        optimal = turn.optimal or ()
        return replace(case, predicted=frozenset(possible.difference(optimal)))
