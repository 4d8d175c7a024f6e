"""Recovery after a perturbation (Arghal et al. 2026, appendices A.2 and A.3)."""

from functools import partial
from itertools import takewhile

from gde.data.trajectory import Trajectory, Turn
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.episodes import CERTIFIED, is_optimal
from gde.numerics.numbers import Mean, Missing, Ratio

NEVER_HAPPENED = "the perturbation happened in no finished episode"


def _facts(episode: Trajectory, _: Model) -> Facts:
    turns = episode.turns
    found: dict[str, float | None] = dict.fromkeys(recovery.columns)
    if "perturbation" not in episode.world.facts:
        return found
    found["planned"] = 1
    found["turns"] = len(turns)
    found["uncertified"] = CERTIFIED.unmet(turns)
    if any(_toward(turn) is not None for turn in turns):
        found["distracting"] = 1
    if not turns or found["uncertified"]:
        return found

    before = list(takewhile(_is_unperturbed, turns))
    after = turns[len(before) :]
    found["played"] = 1
    found["happened"] = bool(after)
    if not after:
        return found

    are_optimal = [is_optimal(turn) for turn in after]
    found["succeeded"] = episode.succeeded
    found["before"] = len(before)
    found["optimal_before"] = sum(map(is_optimal, before))
    found["after"] = len(after)
    found["optimal_after"] = sum(are_optimal)
    found["never"] = True not in are_optimal
    strayed = [turn for turn in after if _may_stray(turn)]
    found["strayed"] = len(strayed)
    found["toward"] = sum(map(_is_toward, strayed))
    if True in are_optimal:
        found["delay"] = are_optimal.index(True)
    # A failed episode ends with its horizon, which says nothing about the way.
    if episode.succeeded:
        # Every step costs 1, so the value is minus the number of needed steps.
        found["excess"] = len(after) + (after[0].value or 0.0)
    return found


def _is_unperturbed(turn: Turn) -> bool:
    return turn.state is None or not turn.state.facts.get("perturbed")


def _toward(turn: Turn) -> object:
    return turn.state.facts.get("toward_distractor") if turn.state is not None else None


def _may_stray(turn: Turn) -> bool:
    return _toward(turn) is not None and not is_optimal(turn)


def _is_toward(turn: Turn) -> bool:
    listed = _toward(turn)
    return isinstance(listed, list | tuple) and turn.decision.action in listed


_NEEDS = (Missing.of_turns(CERTIFIED, "uncertified"),)
_Share = partial(Ratio, missing=_NEEDS, reason=NEVER_HAPPENED, only="planned")
_Turns = partial(Mean, share=False, missing=_NEEDS, only="planned")
recovery = EpisodeMetric(
    columns=(
        *("planned", "turns", "uncertified", "distracting", "played", "happened"),
        *("succeeded", "before", "optimal_before", "after", "optimal_after", "never"),
        *("delay", "excess", "strayed", "toward"),
    ),
    facts=_facts,
    numbers=(
        _Share("recovery.happened", "happened", per="played"),
        _Share("recovery.success", "succeeded", per="happened"),
        _Share(
            "recovery.accuracy_before",
            "optimal_before",
            per="before",
            reason="no decision came before a perturbation",
        ),
        _Share("recovery.accuracy_after", "optimal_after", per="after"),
        _Share("recovery.never", "never", per="happened"),
        _Turns(
            "recovery.delay",
            "delay",
            reason="no optimal action followed a perturbation",
        ),
        _Turns(
            "recovery.excess",
            "excess",
            reason="no episode reached the goal after a perturbation",
        ),
        _Share(
            "recovery.toward_distractor",
            "toward",
            per="strayed",
            reason="no action after a distractor appeared was other than optimal",
            only="distracting",
        ),
    ),
)
"""Episodes with a perturbation, before and after it; nothing for a run without any.

Such a world records the fact `perturbation`, and its states the fact `perturbed`; with
a distractor also `toward_distractor`, the actions that lead there.

"recovery.happened" is the share of episodes with a decision after the perturbation; all
other numbers are about these. "recovery.success" is the share that still reaches the
goal, which may have moved. "recovery.accuracy_before" and "recovery.accuracy_after" are
shares of optimal actions. "recovery.delay" is the number of turns before the first
optimal action after the perturbation; "recovery.never" is the share of episodes without
such an action. "recovery.excess" is the number of turns beyond the needed ones, in
episodes that reach the goal. "recovery.toward_distractor" is the share of non-optimal
actions after a distractor appeared that lead towards it.
"""
