"""A model in whose residual stream the places of agent and goal are planted, of which
it uses the agent's alone.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import (
    EMBEDDING,
    ActivationRecord,
    CaptureRequest,
    Intervention,
    TokenSequence,
)
from gde.data.completion import ChatRequest, Completion, ModelInfo
from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, ModelOffer, NoConfig
from gde.seeding import generator
from gde.testing.parts import PlantedModel
from gde_plugins.probes.maps.policies import Believed

MOVES = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
ROW = re.compile(r"^\d+ +((?:[#_AGC] *)+)$", re.MULTILINE)
STRENGTH, NOISE = 1.0, 0.3
PLANTED = ("agent row", "agent column", "goal row", "goal column")


@dataclass
class Walker(PlantedModel):
    """Sees walls and goal in its prompt, and knows from its last token, at its last
    layer, alone where the agent is.
    """

    n_layers: int = 3
    width: int = 128

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name="walker", n_layers=self.n_layers, width=self.width)

    async def complete(self, request: ChatRequest) -> Completion:
        plain = self._answer(request, "")
        pre = {"pre": plain.positions["pre"]}
        sequence = TokenSequence(
            tokens=plain.prompt_tokens,
            positions=pre,
            interventions=request.interventions,
        )
        (last,) = self._rows(sequence, pre["pre"][-1:], self.n_layers - 1)
        world = self._believed(last, plain.prompt_tokens)
        best = [
            move for move, ok in zip(MOVES, world.optimal(MOVES)[0], strict=True) if ok
        ]
        return self._answer(
            request, json.dumps({"action": best[0]}) if best else "lost"
        )

    def _believed(
        self, stream: NDArray[np.float32], prompt: tuple[int, ...]
    ) -> Believed:
        side, free, _, goal = read(prompt)
        agent = [self._nearest(stream, name, side) for name in PLANTED[:2]]
        free = free.copy()
        free[tuple(agent)] = True
        return Believed(free=free[None], agent=np.array([agent]), goal=np.array([goal]))

    def _direction(self, *key: str | int) -> NDArray[np.float64]:
        return drawn(self.width, *key)

    def _nearest(self, stream: NDArray[np.float32], name: str, side: int) -> int:
        return int(
            np.argmax([stream @ self._direction(name, index) for index in range(side)])
        )

    def _activation(self, tokens: tuple[int, ...], layer: int) -> NDArray[np.float64]:
        if layer == EMBEDDING or self.untrained_seed is not None:
            return super()._activation(tokens, layer)
        _, _, agent, goal = read(tokens)
        planted = [
            self._direction(*each)
            for each in zip(PLANTED, (*agent, *goal), strict=True)
        ]
        noise = NOISE * self._direction("noise", layer, "".join(map(chr, tokens)))
        return np.asarray(STRENGTH * np.sum(planted, axis=0) + noise)


@cache
def drawn(width: int, *key: str | int) -> NDArray[np.float64]:
    """A direction at random; drawing it again takes most of the time otherwise."""
    return generator(0, *key).normal(size=width)


@cache
def read(tokens: tuple[int, ...]) -> tuple[int, NDArray[np.bool_], Any, Any]:
    """Side, free cells, agent and goal of the grid in a prompt."""
    cells = drawn_in(tokens)
    agent, goal = (tuple(map(int, np.argwhere(cells == letter)[0])) for letter in "AG")
    return len(cells), cells != "#", agent, goal


@cache
def distractor(tokens: tuple[int, ...]) -> tuple[int, ...]:
    """Its place; none if it is not drawn."""
    places = np.argwhere(drawn_in(tokens) == "C").tolist()
    return tuple(places[0]) if places else ()


def drawn_in(tokens: tuple[int, ...]) -> NDArray[np.str_]:
    """The symbols of the grid in a prompt."""
    rows = [
        "".join(row.split())
        for row in ROW.findall(
            "".join(map(chr, tokens)).rpartition("Current state:")[2]
        )
    ]
    return np.array([[*row] for row in rows])


@dataclass
class Seeker(Walker):
    """Sees walls and itself in its prompt, and knows from its last token, at its last
    layer, alone where the goal and a distractor are. It goes to one of them.
    """

    seeks: str = "goal"

    def _believed(
        self, stream: NDArray[np.float32], prompt: tuple[int, ...]
    ) -> Believed:
        side, free, agent, _ = read(prompt)
        sought = self.seeks if distractor(prompt) else "goal"
        names = (f"{sought} row", f"{sought} column")
        end = [self._nearest(stream, name, side) for name in names]
        return Believed(free=free[None], agent=np.array([agent]), goal=np.array([end]))

    def _activation(self, tokens: tuple[int, ...], layer: int) -> NDArray[np.float64]:
        planted = super()._activation(tokens, layer)
        place = distractor(tokens)
        if layer == EMBEDDING or self.untrained_seed is not None or not place:
            return planted
        row, column = place
        of_row = self._direction("distractor row", row)
        return planted + of_row + self._direction("distractor column", column)


@dataclass
class Served(Walker):
    """Walks behind a server that gives text and counts."""

    late: bool = False
    """Whether its template writes another prompt than the walker's."""

    async def complete(self, request: ChatRequest) -> Completion:
        local = await super().complete(request)
        tokens: tuple[int, ...] = ()
        prompt = tokens
        if self.late:
            tokens = local.tokens
            prompt = (ord("!"), *local.prompt_tokens[1:])
        return replace(local, positions={}, prompt_tokens=prompt, tokens=tokens)


@dataclass
class Unreadable(Walker):
    """Walks, and leaves activations from which nothing can be learned."""

    value: float = 0.0

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        return [
            ActivationRecord(
                values={
                    place: np.full_like(each, self.value)
                    for place, each in one.values.items()
                }
            )
            for one in super().capture(sequences, request)
        ]


class TwoHeads(PlantedModel):
    """Takes the halves of its stream for heads, and the whole for the output of its
    blocks.
    """

    @property
    def info(self) -> ModelInfo:
        return replace(super().info, n_heads=2, head_width=self.width // 2)

    async def complete(self, request: ChatRequest) -> Completion:
        moved = self._in_stream(request.interventions)
        return await super().complete(replace(request, interventions=moved))

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        moved = [
            replace(each, interventions=self._in_stream(each.interventions))
            for each in sequences
        ]
        return [
            replace(
                record,
                values={
                    at: values[:, self._span(request.place)]
                    for at, values in record.values.items()
                },
            )
            for record in super().capture(moved, replace(request, place="residual"))
        ]

    def _span(self, place: str) -> slice:
        if not place.startswith("head:"):
            return slice(None)
        first = int(place.removeprefix("head:")) * self.width // 2
        return slice(first, first + self.width // 2)

    def _in_stream(
        self, interventions: Sequence[Intervention]
    ) -> tuple[Intervention, ...]:
        """The same changes as ones of the stream."""
        moved: list[Intervention] = []
        for each in interventions:
            span = self._span(each.place)
            wide = np.zeros((*each.vector.shape[:-1], self.width), np.float32)
            wide[..., span] = each.vector
            stream = replace(each, vector=wide, place="residual")
            if each.kind == "replace" and each.place.startswith("head:"):
                axes = np.eye(self.width, dtype=np.float32)[span]
                moved += [
                    replace(stream, kind="project_out", vector=axis) for axis in axes
                ]
                stream = replace(stream, kind="add")
            moved.append(stream)
        return tuple(moved)


class WalkerWithHeads(TwoHeads, Walker):
    """Walks."""


@hookimpl
def gde_language_models() -> Sequence[AnyOffer]:
    """walker, and models that cannot be read."""
    return (
        ModelOffer(
            name="constant",
            summary="leaves the same activations everywhere",
            config=NoConfig,
            make=lambda _, __: Unreadable(),
            gives={Capability.ACTIVATIONS, Capability.INTERVENTIONS},
        ),
        ModelOffer(
            name="undefined",
            summary="leaves activations that are no numbers",
            config=NoConfig,
            make=lambda _, __: Unreadable(value=float("nan")),
            gives={Capability.ACTIVATIONS, Capability.INTERVENTIONS},
        ),
        ModelOffer(
            name="served-walker",
            summary="the walker behind a server",
            config=NoConfig,
            make=lambda _, __: Served(),
        ),
        ModelOffer(
            name="late-walker",
            summary="the walker behind a server with another template",
            config=NoConfig,
            make=lambda _, __: Served(late=True),
        ),
        ModelOffer(
            name="walker-with-heads",
            summary="the walker, whose stream is two heads side by side",
            config=NoConfig,
            make=lambda _, __: WalkerWithHeads(),
            gives={Capability.ACTIVATIONS, Capability.INTERVENTIONS},
        ),
        ModelOffer(
            name="two-heads",
            summary="the planted model, whose stream is two heads side by side",
            config=NoConfig,
            make=lambda _, __: TwoHeads(),
            gives={Capability.ACTIVATIONS, Capability.INTERVENTIONS},
        ),
        ModelOffer(
            name="walker",
            summary="knows where it is from its residual stream, and where the goal is from its prompt",
            config=NoConfig,
            make=lambda _, __: Walker(),
            gives={Capability.ACTIVATIONS, Capability.INTERVENTIONS},
        ),
        *(
            ModelOffer(
                name=f"{seeks}-seeker",
                summary="knows from its residual stream where it goes",
                config=NoConfig,
                make=lambda _, __, seeks=seeks: Seeker(seeks=seeks),
                gives={Capability.ACTIVATIONS, Capability.INTERVENTIONS},
            )
            for seeks in ("goal", "distractor")
        ),
    )
