"""Small parts with known properties, to test other parts with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gde.data.activations import EMBEDDING, ActivationRecord, CaptureRequest, Intervention, TokenSequence
from gde.data.completion import ChatRequest, Completion, Message, ModelInfo, Tokenization
from gde.data.json import Json
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.agent import Brief
from gde.parts.interventions import check_interventions, refuse_interventions
from gde.parts.language_model import LanguageModel
from gde.seeding import derive, generator

ACTIONS = ("LEFT", "RIGHT")
LEFT, RIGHT = ACTIONS
CLOSING = "<|answer|>"
"""What stands between reasoning and answer, and closes the prompt: the last `MARKED` characters are marked."""
MARKED = 3
TURNING = 1000.0
"""How far along its causal direction the planted model must point to be turned."""


@dataclass
class Corridor:
    """Cells 0..length-1 in a row, the goal in the last; the seed chooses the cell to start in.

    Gives STATE, MDP, SNAPSHOT, SIMULATOR and MAP. Reaching the goal earns 1, the model's every step costs 1.
    """

    length: int = 3
    at: int = field(default=-1, init=False)
    """The agent's cell, -1 before the first reset."""
    start: int = field(default=-1, init=False)

    def reset(self, seed: int) -> Observation:
        self.at = self.start = derive(seed, "corridor") % (self.length - 1)
        return self._observe()

    def task(self) -> Task:
        return Task(objective="Reach the last cell.", horizon=3 * self.length, actions=ACTIONS)

    def world(self) -> World:
        wall = "#" * (self.length + 2)
        facts: dict[str, Json] = {"rows": [wall, f"#{'_' * self.length}#", wall], "goal": [1, self.length]}
        labels = {"distance": self.length - 1 - self.start}
        return World(id=f"{self.start} of {self.length}", facts=facts, labels=labels)

    def step(self, action: str) -> Outcome:
        if action not in ACTIONS:
            raise ValueError(f"the corridor takes {' or '.join(ACTIONS)}, got {action!r}")
        if self.at == self.length - 1:
            raise ValueError("the episode is over: call reset")
        self.at = max(0, self.at - 1) if action == LEFT else self.at + 1
        ended = self.at == self.length - 1
        return Outcome.terminal(self._observe(), 1.0, success=1.0) if ended else Outcome.running(self._observe())

    def state(self) -> State:
        return State(facts={"agent": [1, self.at + 1]}, index=self.at)

    def mdp(self) -> TabularMDP:
        n = self.length
        cells = np.arange(n)
        terminal = cells == n - 1
        moves = (np.maximum(cells - 1, 0), np.minimum(cells + 1, n - 1))
        after = [np.where(terminal, cells, move) for move in moves]
        return TabularMDP(
            transition=tuple(csr_array((np.ones(n), (cells, to)), shape=(n, n)) for to in after),
            start=(cells == self.start).astype(float),
            reward=np.where(terminal, 0.0, -1.0),
            terminal=terminal,
            actions=ACTIONS,
        )

    def snapshot(self) -> int:
        return self.at

    def restore(self, snapshot: object) -> Observation:
        if not isinstance(snapshot, int):
            raise ValueError(f"wanted a snapshot of this corridor, got {snapshot!r}")
        self.at = snapshot
        return self._observe()

    def reseed(self, seed: int) -> None:
        """Nothing is random."""

    def close(self) -> None:
        """Nothing is held."""

    def _observe(self) -> Observation:
        cells = "".join("A" if cell == self.at else "_" for cell in range(self.length - 1))
        goal = "A" if self.at == self.length - 1 else "G"
        return Observation(text=f"#{cells}{goal}#", actions=ACTIONS)


@dataclass
class ScriptedAgent:
    """Takes the given actions in turn, from the first again after the last."""

    actions: Sequence[str] = (RIGHT,)
    _turn: int = field(default=-1, init=False)

    def begin(self, brief: Brief) -> None:
        """A script needs no preparation."""

    async def act(self, observation: Observation) -> Decision:  # noqa: ARG002 - a script looks at nothing
        self._turn += 1
        return Decision.act(self.actions[self._turn % len(self.actions)])


@dataclass
class AskingAgent:
    """Shows the observation to its language model and takes the answer as the action. With interventions it steers."""

    model: LanguageModel
    interventions: tuple[Intervention, ...] = ()

    def begin(self, brief: Brief) -> None:
        self._seed, self._turn = brief.seed, -1

    async def act(self, observation: Observation) -> Decision:
        self._turn += 1
        message = Message(role="user", content=observation.text)
        seed = derive(self._seed, self._turn)
        request = ChatRequest(messages=(message,), seed=seed, interventions=self.interventions)
        completion = await self.model.complete(request)
        if observation.actions is not None and completion.text not in observation.actions:
            detail = f"wanted one of {', '.join(observation.actions)}, got {completion.text!r}"
            return Decision.unusable("invalid_action", detail, completion)
        return Decision.act(completion.text, completion)


@dataclass
class AdvisedAgent(AskingAgent):
    """Asks a second model first and shows what that one says to the first, which decides."""

    adviser: LanguageModel = field(kw_only=True)

    async def act(self, observation: Observation) -> Decision:
        question = Message(role="user", content=f"What would you do?\n{observation.text}")
        asked = ChatRequest(messages=(question,), seed=derive(self._seed, "adviser", self._turn + 1))
        advice = await self.adviser.complete(asked)
        return await super().act(replace(observation, text=f"{observation.text}\nAdvice: {advice.text}"))


@dataclass
class Copyist:
    """Says again what it is shown, in one action of as many lines."""

    def begin(self, brief: Brief) -> None:
        """Copying needs no preparation."""

    async def act(self, observation: Observation) -> Decision:
        return Decision.act(observation.text)


def always_right(_: ChatRequest) -> str:
    """The script of a model that knows the way."""
    return RIGHT


@dataclass
class ScriptedModel:
    """A language model that answers by a function of the request, one token a character.

    Beside "pre" and "post" it marks all tokens of the last "message", of which there are as many as characters.
    """

    script: Callable[[ChatRequest], str] = always_right

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name="scripted")

    async def complete(self, request: ChatRequest) -> Completion:
        """The script's answer, cut off at `max_tokens`."""
        refuse_interventions(request, self.info)
        return self._answer(request, self.script(request))

    def close(self) -> None:
        """Nothing is held."""

    def _answer(self, request: ChatRequest, answer: str) -> Completion:
        prompt = "".join(f"{message.role}: {message.content}\n" for message in request.messages) + CLOSING
        reasoning = "I see."
        whole = f"{reasoning}{CLOSING}{answer}"
        said = whole[: request.sampling.max_tokens]
        pre = len(prompt)
        message = pre - len(CLOSING) - 1
        marks = {"pre": tuple(range(pre - MARKED, pre))}
        if content := request.messages[-1].content:
            marks["message"] = tuple(range(message - len(content), message))
        if CLOSING in said:
            post = pre + len(reasoning) + len(CLOSING)
            marks["post"] = tuple(range(post - MARKED, post))
        return Completion(
            text=said.partition(CLOSING)[2],
            reasoning=said.partition(CLOSING)[0],
            finish="stop" if said == whole else "length",
            prompt_tokens=tuple(map(ord, prompt)),
            tokens=tuple(map(ord, said)),
            marks=marks,
            n_prompt=len(prompt),
            n_completion=len(said),
        )


@dataclass
class PlantedModel(ScriptedModel):
    """A white box in whose residual stream the text is planted linearly.

    From layer 0 on, every marked token carries the sum of one fixed random direction for each (place, character)
    before it, so a linear probe finds in it what stood where. The embeddings carry the marked character alone, and
    the untrained twin a direction that is random for each whole text.

    What it says is caused by one more direction: it answers LEFT instead of its script where the last token of the
    prompt points further along it than `turning` is long, which no text comes near. An intervention is carried by its
    token to all deeper layers, and to no other token.
    """

    n_layers: int = 2
    width: int = 64
    untrained_seed: int | None = None

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name="planted", n_layers=self.n_layers, width=self.width, notice="No real model: planted.")

    @property
    def turning(self) -> NDArray[np.float32]:
        """(width,) added to the marked tokens "pre" at any layer, it turns the answer when it is added twice over."""
        direction = self._direction("turning")
        return (TURNING * direction / np.linalg.norm(direction)).astype(np.float32)

    async def complete(self, request: ChatRequest) -> Completion:
        """The script's answer, or LEFT where the interventions turn it.

        Raises:
            GdeError: an intervention at a layer or mark that is not there, or of another width.
        """
        plain = await super().complete(replace(request, interventions=()))
        return self._answer(request, LEFT) if request.interventions and self._turned(request, plain) else plain

    def _turned(self, request: ChatRequest, plain: Completion) -> bool:
        marks = {mark: places for mark, places in plain.marks.items() if places[-1] < len(plain.prompt_tokens)}
        check_interventions(request.interventions, marks, self.info)
        sequence = TokenSequence(tokens=plain.prompt_tokens, marks=marks, interventions=request.interventions)
        (last,) = self._rows(sequence, marks["pre"][-1:], self.n_layers - 1)
        return bool(last @ self.turning > TURNING**2)

    def capture(self, sequences: Sequence[TokenSequence], request: CaptureRequest) -> list[ActivationRecord]:
        for sequence in sequences:
            check_interventions(sequence.interventions, sequence.marks, self.info)
        for layer in request.layers:
            if not EMBEDDING <= layer < self.n_layers:
                raise GdeError(f"layer: wanted {EMBEDDING} to {self.n_layers - 1}, got {layer}")
        return [self._record(sequence, request) for sequence in sequences]

    def tokenize(self, text: str) -> Tokenization:
        return Tokenization(ids=tuple(map(ord, text)), spans=tuple((i, i + 1) for i in range(len(text))))

    def untrained(self, seed: int) -> Self:
        return type(self)(self.script, self.n_layers, self.width, seed)

    def _record(self, sequence: TokenSequence, request: CaptureRequest) -> ActivationRecord:
        marks = [mark for mark in request.marks if mark in sequence.marks]
        values = {
            (layer, mark): self._rows(sequence, sequence.marks[mark], layer)
            for layer in request.layers
            for mark in marks
        }
        return ActivationRecord(values=values)

    def _rows(self, sequence: TokenSequence, places: Sequence[int], layer: int) -> NDArray[np.float32]:
        carried = self._carried(sequence, layer)
        activations = [self._activation(sequence.tokens[: place + 1], layer) for place in places]
        changed = [each + carried.get(place, 0) for place, each in zip(places, activations, strict=True)]
        rows = np.stack(changed).astype(np.float32)
        rows.flags.writeable = False
        return rows

    def _carried(self, sequence: TokenSequence, layer: int) -> Mapping[int, NDArray[np.float64]]:
        """Place to what the interventions up to a layer have changed there, all in all."""
        carried: dict[int, NDArray[np.float64]] = {}
        for each in sorted(sequence.interventions, key=lambda each: each.layer):
            if each.layer > layer:
                break
            places = sequence.marks[each.mark]
            planted = np.stack([self._activation(sequence.tokens[: place + 1], each.layer) for place in places])
            stream = planted + np.stack([carried.get(place, np.zeros(self.width)) for place in places])
            carried.update(zip(places, each.applied(stream) - planted, strict=True))
        return carried

    def _activation(self, tokens: tuple[int, ...], layer: int) -> NDArray[np.float64]:
        if layer == EMBEDDING:
            return self._direction("embedding", tokens[-1])
        if self.untrained_seed is not None:
            text = sha256(repr(tokens).encode()).hexdigest()
            return self._direction("untrained", self.untrained_seed, layer, text)
        directions = [self._direction("planted", place, token) for place, token in enumerate(tokens)]
        planted: NDArray[np.float64] = np.sum(directions, axis=0) * (1 + layer)
        return planted

    def _direction(self, *key: str | int) -> NDArray[np.float64]:
        return generator(0, *key).normal(size=self.width)
