"""The metric `stated`: maps that an agent states in words, beside true and decoded ones.

Arghal et al. (2026), appendix A, suggest such queries beside decoded beliefs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gde.data.cell_map import CellMap
from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.stated_map import FLAWS, Flaw, Unstated, answer_noted, read_stated
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.episodes import finished, unmeasured
from gde_plugins.probes.arrays import Bools, Codes
from gde_plugins.probes.maps.held_out import (
    DecodedTurns,
    decoded_turns,
    recorded_map,
    share_of_turns,
)
from gde_plugins.probes.maps.policies import top
from gde_plugins.probes.maps.scores import likeliest_on_map

THINGS = ("agent", "goal")
NOT_ASKED = "the agent was not asked for the map; set agent.map_query=true"
NO_MAPS = (
    "no such turn has a recorded map with agent and goal; choose an environment that"
    " gives one, e.g. grid"
)
NOT_COMPARED = "no held-out turn has both a stated and a decoded map"


def stated(evidence: Evidence) -> Sequence[Measurement]:
    """Hold the maps that an agent states in words against the true and decoded ones.

    - "stated.answered": share of the answers that state a map of the right size in
      known words. "stated.flaw.FLAW" are the shares of the others: no answer ("empty"),
      not the wanted JSON ("form"), another size ("size"), unknown words ("words").
    - "stated.accuracy": share of cells stated rightly. "stated.agent", "stated.goal":
      share of maps that state the thing in its one true cell and nowhere else. Of
      maps that were asked some turns later, "stated.present": share that state the
      agent where it was when it was asked, as what the prompt shows would have it.
    - "stated.agreement": share of cells stated as they are decoded, in held-out turns.
      "stated.agreement.agent", "stated.agreement.goal": share of maps that state the
      thing only in the one cell where it is most probably decoded. "stated.decoded":
      share of cells decoded rightly in the same turns. There is one of each for every
      fit of a probe of maps, controls included ("fit").

    All but the shares of answers are of maps that were stated: an answer without one
    has no accuracy. If no answer states one, there is a reason instead.
    """
    n_asked, answers = _answers(evidence)
    if not answers:
        reason = NO_MAPS if n_asked else NOT_ASKED
        return [unmeasured("stated.answered", reason)]

    measurements = [*_usable(answers, evidence.seed)]
    maps = [one for one in answers if one.cells is not None]
    nothing = _nothing_stated(answers)
    measurements += _scores(maps, nothing, evidence.seed)

    # Probes are fitted to whole runs, so parts of a run have no decoded maps.
    if not evidence.part:
        by_turn = {one.turn: one for one in maps}
        for fit in decoded_turns(evidence):
            found = _agreements(fit, by_turn, nothing, evidence.seed)
            measurements += fit.under([*found])
    return measurements


@dataclass(frozen=True, kw_only=True, eq=False)
class _Answer:
    """The answer to the question for the map in one turn."""

    turn: tuple[str, int]
    """Episode and index of the turn."""
    world: str
    kinds: tuple[str, ...]
    true: Codes
    """(height, width)."""
    now: Codes | None = None
    """(height, width) when it was asked; None where that is the same turn."""
    cells: Codes | None = None
    """(height, width) as stated; None without a map."""
    flaw: Flaw | None = None
    reason: str = ""
    """Why there is no map; empty otherwise."""

    @property
    def n_right(self) -> int:
        """The number of cells stated rightly."""
        assert self.cells is not None
        return int(np.count_nonzero(self.cells == self.true))

    def stated_at(self, thing: str) -> Bools:
        """(height, width) the cells stated to hold a thing."""
        assert self.cells is not None
        here: Bools = self.cells == self.kinds.index(thing)
        return here

    def states_rightly(self, thing: str, then: Codes) -> bool:
        """Whether a thing is stated where it was, and nowhere else."""
        return np.array_equal(self.stated_at(thing), then == self.kinds.index(thing))


def _answers(evidence: Evidence) -> tuple[int, list[_Answer]]:
    """Return the number of answers, and those of turns with a true map."""
    n_asked = 0
    answers = []
    for trajectory in finished(evidence):
        for turn in trajectory.turns:
            noted = answer_noted(turn.decision.detail)
            if noted is None or noted.age > turn.index:
                continue
            n_asked += 1
            # An answer belongs to the turn whose map it states.
            asked_of = trajectory.turns[turn.index - noted.age]
            true = _true_map(trajectory, asked_of)
            if true is not None:
                now = _true_map(trajectory, turn) if noted.age else None
                answers.append(_read(noted.answer, true, trajectory, asked_of, now))
    return n_asked, answers


def _true_map(trajectory: Trajectory, turn: Turn) -> CellMap | None:
    """Return the true map of a turn; None where none with agent and goal is recorded."""
    true = recorded_map(trajectory, turn)
    return true if true and {*THINGS} <= {*true.kinds} else None


def _read(
    text: str,
    true: CellMap,
    trajectory: Trajectory,
    turn: Turn,
    now: CellMap | None,
) -> _Answer:
    cells = None
    flaw = None
    reason = ""
    try:
        cells = read_stated(text, true.kinds, (true.height, true.width))
    except Unstated as error:
        flaw = error.flaw
        reason = str(error)
    return _Answer(
        turn=(str(trajectory.key), turn.index),
        world=trajectory.world.cluster,
        kinds=true.kinds,
        true=true.codes,
        now=now.codes if now else None,
        cells=cells,
        flaw=flaw,
        reason=reason,
    )


def _nothing_stated(answers: Sequence[_Answer]) -> str:
    """Return why no answer states a map: the commonest reason."""
    reasons = Counter(one.reason for one in answers if one.reason)
    if not reasons:
        return ""
    commonest, _ = reasons.most_common(1)[0]
    return f"no answer states a map; most often: {commonest}"


def _usable(answers: Sequence[_Answer], seed: int) -> Iterator[Measurement]:
    """Return the share of answers that state a map, and those of each flaw."""
    worlds = [one.world for one in answers]
    is_map = [one.cells is not None for one in answers]
    yield share_of_turns("stated.answered", is_map, worlds, seed)
    for flaw in FLAWS:
        has_flaw = [one.flaw == flaw for one in answers]
        if any(has_flaw):
            yield share_of_turns(f"stated.flaw.{flaw}", has_flaw, worlds, seed)


def _scores(maps: Sequence[_Answer], nothing: str, seed: int) -> Iterator[Measurement]:
    """Return the scores of stated maps against the true ones."""
    if not maps:
        for name in ("stated.accuracy", "stated.agent", "stated.goal"):
            yield unmeasured(name, nothing)
        return

    worlds = [one.world for one in maps]
    n_right = [one.n_right for one in maps]
    n_cells = [one.true.size for one in maps]
    yield share_of_turns("stated.accuracy", n_right, worlds, seed, trials=n_cells)
    for thing in THINGS:
        is_right = [one.states_rightly(thing, one.true) for one in maps]
        yield share_of_turns(f"stated.{thing}", is_right, worlds, seed)
    later = [(one, one.now) for one in maps if one.now is not None]
    if later:
        is_present = [one.states_rightly("agent", now) for one, now in later]
        worlds = [one.world for one, _ in later]
        yield share_of_turns("stated.present", is_present, worlds, seed)


def _agreements(
    fit: DecodedTurns,
    by_turn: Mapping[tuple[str, int], _Answer],
    nothing: str,
    seed: int,
) -> Iterator[Measurement]:
    """Return the agreement of stated with decoded maps in the turns of a fit."""
    rows = []
    maps = []
    for row, (trajectory, turn) in enumerate(
        zip(fit.trajectories, fit.turns, strict=True)
    ):
        answer = by_turn.get((str(trajectory.key), turn.index))
        if answer is not None:
            rows.append(row)
            maps.append(answer)
    if not maps:
        reason = NOT_COMPARED if by_turn else nothing
        yield unmeasured("stated.agreement", reason)
        return

    worlds = [one.world for one in maps]
    n_cells = [one.true.size for one in maps]
    named = likeliest_on_map(fit.decoded[rows], fit.classes)
    n_agreed = []
    n_right = []
    for cells, one in zip(named, maps, strict=True):
        # Smaller maps are padded to the right and below.
        height, width = one.true.shape
        on_map = cells[:height, :width]
        n_agreed.append(int((on_map == one.cells).sum()))
        n_right.append(int((on_map == one.true).sum()))
    yield share_of_turns(
        "stated.agreement", n_agreed, worlds, seed, fit.labels, n_cells
    )
    yield share_of_turns("stated.decoded", n_right, worlds, seed, fit.labels, n_cells)

    for thing in THINGS:
        yield _place_agreement(fit, rows, maps, thing, seed)


def _place_agreement(
    fit: DecodedTurns,
    rows: Sequence[int],
    maps: Sequence[_Answer],
    thing: str,
    seed: int,
) -> Measurement:
    """Return the share of maps that state a thing only where it is decoded."""
    name = f"stated.agreement.{thing}"
    untrained = fit.untrained(thing)
    if untrained:
        return unmeasured(name, untrained)

    probabilities = fit.decoded[rows][..., fit.classes.index(thing)]
    agrees = []
    for place, one in zip(top(probabilities).tolist(), maps, strict=True):
        places_stated = np.argwhere(one.stated_at(thing)).tolist()
        agrees.append(places_stated == [place])
    worlds = [one.world for one in maps]
    return share_of_turns(name, agrees, worlds, seed, fit.labels)
