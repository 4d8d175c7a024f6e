"""The metric `errors`: why was an action not optimal?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import nan

import numpy as np

from gde.data.evidence import Evidence
from gde.data.measure import Measures
from gde.data.result import Measurement
from gde.data.view import moves
from gde.numerics.episodes import finished, unmeasured
from gde_plugins.probes.arrays import Bools
from gde_plugins.probes.config import ErrorsConfig
from gde_plugins.probes.errors.attribution import CAUSES, Cause, Erring, erring_turns
from gde_plugins.probes.maps.against_controls import Measured, against_controls
from gde_plugins.probes.maps.first_turns import NONE_DECODED
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns, share_of_turns
from gde_plugins.probes.maps.policies import Believed
from gde_plugins.probes.measures import ERRORS

NO_ERROR = "every action with a certified optimum was optimal"
UNCERTIFIED = "no turn has certified optimal actions"
UNSTATED = (
    "no answer states a place or a map; set errors.reasoning to the form that the model"
    " writes, or agent.map_query=true"
)
UNPLANNED = "no reasoning states a path; set errors.reasoning to its form"
ALONE = "no world has anything but the goal to go to"
NO_ODDS = "no turn has probabilities or a stated path; set agent.probabilities=true"
NOT_LISTED = "no turn lists the actions that were possible"
Key = tuple[str, int]


@dataclass(frozen=True)
class Errors:
    """Attribute every action that is not optimal to the first cause that explains it.

    "errors.CAUSE" is the cause's share of these turns, in this order:

    - "unreadable": no action can be read from the answer.
    - "belief": the action is optimal on the map decoded from the activations.
    - "stated": the answer names another place of agent, goal or wall than is true, and
      the action follows: it is optimal on what is said, or begins the stated path.
    - "goal": the action is optimal towards another thing, or an earlier goal.
    - "plan": the action begins the stated path, which arrives and is not shortest.
    - "slip": another action was likelier by the agent's own probabilities, or begins
      its stated path.
    - "unexplained".

    "errors.CAUSE.random" is the share that the cause would take if the same turns had
    a random action among those that are not optimal. "errors.belief.shuffled" is that
    of "belief" with the decoded maps of other worlds.

    Numbers without the label "fit" are of all turns, without decoded maps. For each fit
    of a probe of maps there are those of held-out turns, controls included, against
    which "errors.belief" is tested. n counts the turns; intervals resample worlds.
    """

    config: ErrorsConfig

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        errors, n_certified = self._errors(evidence)
        if not errors:
            reason = NO_ERROR if n_certified else UNCERTIFIED
            return [unmeasured("errors.unexplained", reason)]

        seed = evidence.seed
        # Probes are fitted to whole runs, so parts of a run have no decoded maps.
        fits = [] if evidence.part else [*decoded_turns(evidence)]
        found = [*_shares([*errors.values()], seed)]
        if not fits:
            found.append(unmeasured("errors.belief", NONE_DECODED))
        measure = partial(_of_fit, errors=errors, seed=seed)
        return found + against_controls(fits, measure, Measures(ERRORS), seed)

    def remarks(self, evidence: Evidence) -> Mapping[Key, str]:
        """The cause and its evidence, by episode and turn.

        Beliefs are those of the first fit that is no control.
        """
        errors, _ = self._errors(evidence)
        for fit in decoded_turns(evidence):
            if not fit.is_control and not fit.untrained("agent", "goal"):
                believing = _believing(fit, _decoded_optimal(fit), errors)
                errors.update((one.key, one) for one in believing)
                break
        remarks = {}
        for key, one in errors.items():
            explained = one.explained()
            remarks[key] = f"{explained.cause}: {explained.evidence}".rstrip(": ")
        return remarks

    def _errors(self, evidence: Evidence) -> tuple[dict[Key, Erring], int]:
        """The erring turns, and the number of turns with a certified optimum."""
        errors = {}
        n_certified = 0
        for trajectory in finished(evidence):
            n_certified += sum(turn.optimal is not None for turn in trajectory.turns)
            for one in erring_turns(trajectory, self.config.reasoning):
                errors[one.key] = one
        return errors, n_certified


def _shares(errors: Sequence[Erring], seed: int, *labels: str) -> Iterator[Measurement]:
    """The share of each cause but belief, and what a random action would give it."""
    for cause in CAUSES:
        if cause == "belief":
            continue
        name = f"errors.{cause}"
        if reason := _unknown(cause, errors):
            yield unmeasured(name, reason)
            continue
        yield _share(name, errors, cause, seed, *labels)
        if cause != "unreadable":
            yield _random(errors, cause, seed, *labels)


def _unknown(cause: Cause, errors: Sequence[Erring]) -> str:
    """Why a cause cannot be told in any of the turns; empty if it can."""
    if cause == "stated" and not any(one.states for one in errors):
        return UNSTATED
    if cause == "goal" and not any(one.has_others for one in errors):
        return ALONE
    if cause == "plan" and not any(one.begun for one in errors):
        return UNPLANNED
    if cause == "slip" and not any(one.begun or one.probabilities for one in errors):
        return NO_ODDS
    return ""


def _of_fit(fit: DecodedTurns, errors: Mapping[Key, Erring], seed: int) -> Measured:
    """All shares in the held-out turns of a fit, which decodes their maps."""
    untrained = fit.untrained("agent", "goal")
    best = _decoded_optimal(fit)
    believing = _believing(fit, best, errors)
    if untrained or not believing:
        reason = untrained or "every held-out action was optimal"
        return Measured(measurements=[unmeasured("errors.belief", reason)])

    labels = fit.labels
    found = [
        _share("errors.belief", believing, "belief", seed, *labels),
        _random(believing, "belief", seed, *labels),
        _shuffled(fit, best, believing, seed, *labels),
        *_shares(believing, seed, *labels),
    ]
    causes = {one.key: one.explained().cause for one in believing}
    scores = [
        float(causes[key] == "belief") if key in causes else nan for key in fit.keys
    ]
    return Measured(measurements=found, scores={"errors.belief": np.array(scores)})


def _believing(
    fit: DecodedTurns, best: Mapping[str, Bools], errors: Mapping[Key, Erring]
) -> list[Erring]:
    """The held-out erring turns with the actions that their decoded maps explain."""
    believing = []
    for row, key in enumerate(fit.keys):
        if key in errors:
            decoded = frozenset(name for name in best if best[name][row])
            believing.append(replace(errors[key], decoded=decoded))
    return believing


def _decoded_optimal(fit: DecodedTurns) -> Mapping[str, Bools]:
    """By action: (N,) whether it is optimal on the decoded map."""
    if not fit.turns:
        return {}
    known = moves(fit.trajectories[0].world)
    believed = Believed.likeliest(fit.decoded, fit.classes)
    return dict(zip(known, believed.optimal(known).T, strict=True))


def _share(
    name: str, errors: Sequence[Erring], cause: Cause, seed: int, *labels: str
) -> Measurement:
    hits = [float(one.explained().cause == cause) for one in errors]
    worlds = [one.world for one in errors]
    return share_of_turns(name, hits, worlds, seed, labels)


def _random(
    errors: Sequence[Erring], cause: Cause, seed: int, *labels: str
) -> Measurement:
    """The expected share if the same turns had random actions that are not optimal."""
    name = f"errors.{cause}.random"
    hits = []
    worlds = []
    for one in errors:
        if one.wrong:
            causes = [one.explaining(action).cause for action in one.wrong]
            hits.append(causes.count(cause) / len(causes))
            worlds.append(one.world)
    return share_of_turns(name, hits, worlds, seed, labels, reason=NOT_LISTED)


def _shuffled(
    fit: DecodedTurns,
    best: Mapping[str, Bools],
    errors: Sequence[Erring],
    seed: int,
    *labels: str,
) -> Measurement:
    """The share of beliefs, expected with the decoded map of a turn of another world."""
    name = "errors.belief.shuffled"
    groups = fit.groups
    hits = []
    worlds = []
    for one in errors:
        elsewhere = groups != one.world
        if elsewhere.any():
            explained = best.get(one.action or "")
            share = 0.0 if explained is None else explained[elsewhere].mean()
            hits.append(float(share))
            worlds.append(one.world)
    reason = "there is only one held-out world"
    return share_of_turns(name, hits, worlds, seed, labels, reason=reason)
