"""From the answers of a server to tokens that local weights can replay.

A server gives text, and perhaps token ids. The weights that it serves are read here, on
the very tokens. Each answer is therefore put into the tokens of the local weights once.
An answer for which that fails is recorded with its reason, and its turn has no
activations.

Where the server gives log-probabilities, they tell whether it has the same weights.
Almost every model is sure of most tokens, so only the others are compared. Rounding in
16 bits moves one in four of them by more than `CLOSE`, other weights almost all. A
binomial test tells the two apart.

Where it gives none and was asked for the likeliest tokens, its tokens must be the
likeliest here. Rounding in 16 bits chooses another among tokens that are almost alike,
which `FAR` allows for.

The pass that gives the log-probabilities here reads the activations too. It goes
through all layers, so only every `SCORED`th turn of an episode is judged by itself, and
those between share its verdict.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np
import scipy

from gde.data.activations import ActivationRecord, CaptureRequest, TokenSequence
from gde.data.arrays import Doubles
from gde.data.completion import Completion, ModelInfo
from gde.data.json import Json
from gde.data.trajectory import Trajectory
from gde.errors import CannotReplay, GdeError
from gde.parts.language_model import Retokenizer, WhiteBox
from gde.stages.models import IDENTIFYING
from gde.store.activations import HELD_BYTES, Row
from gde.store.journal import LIKELIEST, Journal
from gde.store.replays import PROBLEMS, Replay, known, write_replays
from gde.store.rows import to_json

Made = Callable[[], WhiteBox]
"""Gives the model. It is called only where something has to be replayed."""
SURE = math.log(0.9)
"""Tokens are compared of which server or replay is less sure than this."""
CLOSE = 0.05
"""Largest difference of two log-probabilities that counts as rounding."""
SHARE_CLOSE = 0.5
"""Least share of close ones among the compared tokens of the same weights, which other
kernels may bring near it.
"""
ERROR = 1e-3
"""Weights are refused if the same ones would have so few close tokens with less than
this probability. That takes 10 tokens, and of 100 at most 34 close ones.
"""
LOWEST = -20.0
"""Log-probabilities below it are alike: servers write any number for that of 0."""
COMPARED = 100
"""Compared tokens of consecutive turns that are judged together."""
BATCH = 64
"""Turns that are written together without any log-probabilities."""
FAR = 0.5
"""How far a served token may be below the likeliest one here. Rounding in 16 bits gave
at most .25 (SmolLM2-135M, 1,440 tokens).
"""
FEWEST_FAR = 3
"""Fewer tokens beyond it do not tell."""
LEAST_FAR = 0.005
"""Least share of them that does. `nano:plain` has 1.8 % for `nano`."""
DRAWN = 500
"""Tokens at temperature 0 of consecutive turns that are judged together."""
SCORED = 8
"""Of so many consecutive turns of an episode, one is scored: a pass through all layers
takes up to twice the time of one to the middle.
"""
SHOWN = 12
"""Characters of a hash that identifies weights."""


@dataclass(frozen=True, kw_only=True)
class _Tried:
    """A replay, and how far its log-probabilities are from the server's."""

    replay: Replay
    differences: Doubles = field(default_factory=lambda: np.zeros(0))
    """(N,) absolute ones, of the compared tokens."""
    deficits: Doubles = field(default_factory=lambda: np.zeros(0))
    """(T,) of the tokens at temperature 0, below the likeliest ones here."""
    record: ActivationRecord | None = None
    """What the pass read that gave the log-probabilities."""

    @property
    def nbytes(self) -> int:
        """Memory of its activations."""
        if self.record is None:
            return 0
        return sum(values.nbytes for values in self.record.values.values())


def identity(info: ModelInfo, config: Mapping[str, Json]) -> str:
    """A short text that tells weights and their settings from others.

    A setting may change the prompt, such as the date in it.
    """
    versions = [info.versions.get(each) for each in IDENTIFYING]
    text = to_json([info.name, versions, config])
    return sha256(text.encode()).hexdigest()[:SHOWN]


def check_weights(whose: str, weights: ModelInfo, answered: ModelInfo) -> None:
    """Refuse weights that are known to be others than those of the agent's model.

    A server does not say which weights it has.

    Raises:
        GdeError: both have a digest, and they differ.
    """
    wanted = answered.versions.get("weights")
    got = weights.versions.get("weights")
    if wanted and got and wanted != got:
        raise GdeError(
            f"{whose}: the weights of {weights.name!r} are not those of {answered.name!r}, which answers;"
            " leave the setting out, or name the same weights"
        )


def retokenize(
    trajectories: Iterable[Trajectory],
    name: str,
    model: Made,
    weights: str,
    request: CaptureRequest,
    journal: Journal,
) -> Iterator[tuple[Row, ActivationRecord]]:
    """Record every answer in the tokens of local weights, or why it has none.

    Yields the activations of those turns whose log-probabilities were compared.

    Args:
        trajectories: of the run.
        name: of the served model that answered.
        model: gives the local weights. It is called only if an answer is not recorded
            yet.
        weights: identifies them.
        request: the activations that will be wanted.
        journal: of the run.

    Raises:
        GdeError: the model cannot replay the answers of others.
    """
    known_rows = known(journal, weights)
    # All episodes asked for them, or none of their answers tells.
    likeliest = journal.told().get(("", name), {}).get(LIKELIEST) == [True]

    def tried() -> Iterator[_Tried]:
        for row, completion in _answers(trajectories, name):
            if row not in known_rows:
                asked = replace(completion, likeliest=likeliest)
                yield _tried(model(), row, asked, request)

    for group in _groups(tried()):
        replays = _judged(group)
        write_replays(journal, weights, replays)
        for each, replay in zip(group, replays, strict=True):
            if each.record is not None and replay.status == "replayed":
                yield replay.row, each.record


def problem_of(model: WhiteBox, completion: Completion) -> str:
    """Why local weights cannot replay one answer of a server.

    Empty if they can, or if the answer is too short to tell.

    Raises:
        GdeError: the model cannot replay the answers of others.
    """
    tried = _tried(model, ("", 0), completion, CaptureRequest(layers=()))
    (replay,) = _judged([tried])
    if replay.status == "replayed":
        return ""
    return f"{PROBLEMS[replay.status]}: {replay.reason}"


def _answers(
    trajectories: Iterable[Trajectory], name: str
) -> Iterator[tuple[Row, Completion]]:
    """Yield the answers of a model that gives no positions."""
    for trajectory in trajectories:
        for turn in trajectory.turns:
            completion = turn.decision.completion
            if completion is None or completion.model != name:
                continue
            if not completion.positions:
                yield (str(trajectory.key), turn.index), completion


def _tried(
    model: WhiteBox, row: Row, completion: Completion, request: CaptureRequest
) -> _Tried:
    if not isinstance(model, Retokenizer):
        raise GdeError(
            f"language model {model.info.name!r} cannot replay the answers of a server: name another,"
            " e.g. hf:PATH_OR_ID"
        )
    try:
        found = model.retokenize(completion)
        _check_number(completion.logprobs, found.tokens)
    except CannotReplay as error:
        replay = Replay(row=row, status="not reconstructed", reason=str(error))
        return _Tried(replay=replay)

    tokens = found.prompt_tokens + found.tokens
    replay = Replay(row=row, tokens=tokens, positions=found.positions)
    _, turn = row
    tells = completion.logprobs or completion.likeliest
    if turn % SCORED or not tells:
        return _Tried(replay=replay)
    sequence = TokenSequence(
        tokens=tokens, positions=found.positions, scored=len(found.tokens)
    )
    (record,) = model.capture([sequence], request)
    if completion.logprobs:
        differences = _differences(completion.logprobs, record.logprobs)
        return _Tried(replay=replay, differences=differences, record=record)
    return _Tried(replay=replay, deficits=np.array(record.deficits), record=record)


def _check_number(logprobs: Sequence[float], tokens: Sequence[int]) -> None:
    """Refuse log-probabilities of other tokens.

    Raises:
        CannotReplay: there are more or fewer than tokens.
    """
    # Servers differ in whether they give that of the token that ends an answer.
    if logprobs and abs(len(logprobs) - len(tokens)) > 1:
        raise CannotReplay(
            f"completion has {len(logprobs)} log-probabilities there and {len(tokens)} here"
        )


def _differences(there: Sequence[float], here: Sequence[float]) -> Doubles:
    """(N,) differences of log-probabilities at the tokens that are compared."""
    n_both = min(len(there), len(here))
    served = np.array(there[:n_both])
    replayed = np.array(here[:n_both])
    is_unsure = np.minimum(served, replayed) < SURE
    differences = np.abs(served.clip(LOWEST) - replayed.clip(LOWEST))
    unsure: Doubles = differences[is_unsure]
    return unsure


def _groups(tried: Iterable[_Tried]) -> Iterator[list[_Tried]]:
    """Yield consecutive turns that are judged together.

    The last group may be the largest: what is left could be too little to tell.
    """
    whole: list[_Tried] = []
    group: list[_Tried] = []
    for one in tried:
        group.append(one)
        # Activations that wait too long for a verdict are read again after it.
        if sum(each.nbytes for each in whole + group) > HELD_BYTES:
            whole = [replace(each, record=None) for each in whole]
            group = [replace(each, record=None) for each in group]

        n_compared = sum(len(each.differences) for each in group)
        n_drawn = sum(len(each.deficits) for each in group)
        tells = n_compared >= COMPARED or n_drawn >= DRAWN
        if tells or (not n_compared + n_drawn and len(group) == BATCH):
            if whole:
                yield whole
            whole = group
            group = []
    if whole or group:
        yield whole + group


def _judged(group: Sequence[_Tried]) -> list[Replay]:
    """The replays of a group; without tokens if other weights have answered."""
    replays = [each.replay for each in group]
    differences = np.concatenate([each.differences for each in group])
    deficits = np.concatenate([each.deficits for each in group])
    reason = _too_different(differences) or _too_unlikely(deficits)
    if not reason:
        return replays

    judged = []
    for replay in replays:
        refused = Replay(row=replay.row, status="other weights", reason=reason)
        judged.append(refused if replay.status == "replayed" else replay)
    return judged


def _too_different(differences: Doubles) -> str:
    """Why log-probabilities are not those of the same weights; empty if they may be."""
    n_close = int((differences <= CLOSE).sum())
    chance = scipy.stats.binom.cdf(n_close, len(differences), SHARE_CLOSE)
    if chance >= ERROR:
        return ""
    share = n_close / len(differences)
    median = float(np.median(differences))
    return (
        f"of {len(differences)} uncertain tokens, {share:.0%} have log-probabilities within {CLOSE}"
        f" of the server's; the median difference is {median:.2g}"
    )


def _too_unlikely(deficits: Doubles) -> str:
    """Why tokens are not the likeliest of the same weights; empty if they may be."""
    n_far = int((deficits > FAR).sum())
    if n_far < FEWEST_FAR or n_far < LEAST_FAR * len(deficits):
        return ""
    return (
        f"of {len(deficits)} tokens at temperature 0, {n_far} are not the likeliest here, by"
        f" {float(deficits.max()):.2g} in log-probability (or the server penalises tokens or strips spaces)"
    )
