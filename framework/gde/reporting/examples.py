"""Which episodes a report shows: chosen by rule, never by how well they look."""

from collections.abc import Iterable, Iterator, Mapping, Set

from gde.data.trajectory import Trajectory

SUCCESS, MISS, LONGEST = "First success", "First miss", "Longest of the others"


def examples(trajectories: Iterable[Trajectory], held_out: Set[str]) -> Iterator[tuple[str, Trajectory]]:
    """The first success, the first miss and the longest episode of those that were held out from probing, of all where
    none was; each with why it was chosen.

    Args:
        trajectories: iterated over twice at most; no more than three are held at a time.
        held_out: keys of episodes.
    """
    found = _found(one for one in trajectories if str(one.key) in held_out) if held_out else {}
    found = found or _found(trajectories)
    return ((why, found[why]) for why in (SUCCESS, MISS, LONGEST) if why in found)


def _found(trajectories: Iterable[Trajectory]) -> Mapping[str, Trajectory]:
    found: dict[str, Trajectory] = {}
    for one in trajectories:
        if one.ending == "failed" or not one.turns:
            continue
        first = SUCCESS if one.succeeded else MISS
        if first not in found:
            found[first] = one
        elif LONGEST not in found or len(one.turns) > len(found[LONGEST].turns):
            found[LONGEST] = one
    return found
