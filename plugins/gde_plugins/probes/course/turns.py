"""The turns of a course: the first of each world, with what is true, done and said."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from gde.data.activations import TokenSequence
from gde.data.cell_map import CellMap
from gde.data.completion import Completion
from gde.data.trajectory import Trajectory
from gde.parts.context import Context
from gde.parts.language_model import WhiteBox
from gde_plugins.probes.causes.replay import in_tokens
from gde_plugins.probes.course.events import Found, find_events

NO_MODEL = "no model of the run gives activations"


@dataclass(frozen=True, kw_only=True, eq=False)
class CourseTurn:
    """A turn that can be replayed."""

    world: str
    """The cluster."""
    sequence: TokenSequence
    """All its tokens, with its events as positions."""
    n_prompt: int
    """Tokens of the prompt."""
    found: Found
    map: CellMap
    optimal: tuple[str, ...]
    action: str | None
    trajectory: Trajectory
    """Its episode, whose first turn it is."""

    def after_prompt(self, other: "CourseTurn") -> TokenSequence:
        """The same completion after the prompt of another turn."""
        moved = other.n_prompt - self.n_prompt
        prompt = other.sequence.tokens[: other.n_prompt]
        completion = self.sequence.tokens[self.n_prompt :]
        positions = {
            name: (token + moved,) for name, (token,) in self.found.positions.items()
        }
        return TokenSequence(tokens=prompt + completion, positions=positions)


def read_model(
    context: Context, weights: str, trajectories: Iterable[Trajectory]
) -> Any:
    """The white box with these weights or, without any, the one that gave the first
    answer; None where there is none.
    """
    turns = chain.from_iterable(each.turns for each in trajectories)
    answers = (turn.decision.completion for turn in turns)
    names = (answer.model for answer in answers if answer is not None)
    name = weights or next(names, "")
    model = context.model(name) if name else None
    return model if isinstance(model, WhiteBox) and model.info.n_layers else None


def located(
    completion: Completion, patterns: Mapping[str, str], model: WhiteBox
) -> tuple[Completion, Found] | None:
    """An answer in the model's tokens, with its events; None if it cannot be replayed."""
    answer = in_tokens(completion, model)
    if answer is None:
        return None
    sequence = TokenSequence(
        tokens=answer.prompt_tokens + answer.tokens, positions=answer.positions
    )
    return answer, find_events(answer, sequence, patterns, model.tokenize)


def first_turns(
    trajectories: Iterable[Trajectory], patterns: Mapping[str, str], model: WhiteBox
) -> Iterator[CourseTurn]:
    """Yield the first turn of each world that has a true map, an optimum, and an answer
    that can be replayed. Further turns of a world tell little more.
    """
    seen = set()
    for trajectory in trajectories:
        world = trajectory.world.cluster
        turn = next(iter(trajectory.turns), None)
        if world in seen or turn is None or turn.state is None or not turn.optimal:
            continue
        if turn.decision.completion is None:
            continue
        answer = located(turn.decision.completion, patterns, model)
        if answer is None:
            continue
        seen.add(world)
        completion, found = answer
        yield CourseTurn(
            world=world,
            sequence=TokenSequence(
                tokens=completion.prompt_tokens + completion.tokens,
                positions={**completion.positions, **found.positions},
                interventions=completion.interventions,
            ),
            n_prompt=len(completion.prompt_tokens),
            found=found,
            map=CellMap.from_record(trajectory.world, turn.state),
            optimal=turn.optimal,
            action=turn.decision.action,
            trajectory=trajectory,
        )
