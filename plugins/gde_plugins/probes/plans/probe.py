"""The probe `plan`: future actions, decoded from the activations of one turn.

See Arghal et al. (2026), section 5.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np
import torch

from gde.data.activations import CaptureRequest
from gde.data.completion import ModelInfo
from gde.data.probe import InputForm, ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.parts.probe import Marks, Readout
from gde_plugins.probes.arrays import Codes, Doubles, Floats, Indices
from gde_plugins.probes.config import PlanConfig
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.weights import check_tokens
from gde_plugins.probes.plans.decoder import PlanDecoder, fit_decoder
from gde_plugins.probes.plans.scores import score_plans

WIDEST = 1024
"""Maximum default width of the decoder."""
END = 0
"""Code of the end of a plan. Actions are counted from 1."""
OVER = -1
"""Code of the places after a plan's end."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanReadout:
    """A fitted decoder."""

    decoder: PlanDecoder
    marginal: Floats
    """(H, C) share of the training plans of that length with each action at each
    place.
    """
    heads: int

    @one_thread()
    def predict(self, inputs: Floats) -> Floats:
        """(N, T, D) padded activations to (N, H, C) probabilities of the actions and
        the end.

        Raises:
            ValueError: activations that are not finite, naming the row.
        """
        check_tokens(inputs)
        return self.decoder.probabilities(inputs)

    def arrays(self) -> Mapping[str, Floats]:
        """The decoder's parameters, "marginal" and "heads" (1,)."""
        state = self.decoder.state_dict()
        arrays = {name: tensor.cpu().numpy() for name, tensor in state.items()}
        arrays["marginal"] = self.marginal
        # Of all sizes of the decoder this alone does not show in the shapes of its
        # parameters.
        arrays["heads"] = np.array([self.heads], np.float32)
        return arrays


@dataclass(frozen=True)
class PlanProbe:
    """Decodes the agent's future actions, up to the end of its episode."""

    config: PlanConfig
    inputs: ClassVar[InputForm] = "tokens"
    variants: ClassVar[tuple[str, ...]] = ("oneshot",)

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return self.config.capture(model)

    @property
    def marks(self) -> Marks | None:
        return self.config.course.marks

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """(T, H) the actions taken from each turn on, in the order of the admissible
        ones, then `END`, then `OVER`.

        A turn that is not decoded has NaN: one with H or more future actions, or, with
        `turns=first`, any but the first.

        Raises:
            GdeError: the environment does not list its actions, or not the same in all
                turns.
        """
        actions = _listed_actions(trajectory)
        horizon = self.config.horizon
        taken = [turn.decision.action for turn in trajectory.turns]
        decoded = range(len(taken))
        if self.config.turns == "first":
            decoded = decoded[:1]

        plans = np.full((len(taken), horizon), np.nan)
        for turn in decoded:
            # Decisions that named no action changed nothing, so they are no part of the
            # plan.
            ahead = [
                1 + actions.index(action)
                for action in taken[turn:]
                if action in actions
            ]
            n_ahead = len(ahead)
            if n_ahead < horizon:
                plans[turn] = OVER
                plans[turn, :n_ahead] = ahead
                plans[turn, n_ahead] = END
        return ProbeLabels(values=plans)

    def fit(
        self,
        variant: str,  # noqa: ARG002
        train: ProbeDataset,
        rng: np.random.Generator,
    ) -> Readout:
        """Fit a decoder.

        Raises:
            ValueError: activations that are not finite, naming the row, or no plan that
                is short enough.
        """
        config = self.config
        plans, rows = _plans(train)
        if not len(plans):
            raise ValueError(
                f"no training turn has fewer than {config.horizon} future actions"
            )
        check_tokens(train.inputs)

        n_inputs = train.inputs.shape[-1]
        kinds = int(plans.max()) + 1
        # Attention wants a width that the number of heads divides.
        width = config.width or min(WIDEST, n_inputs)
        width = ceil(width / config.heads) * config.heads

        # Torch draws from one generator for the whole process, which is left as it was.
        with torch.random.fork_rng(), one_thread():
            seed = int(rng.integers(2**31))
            torch.manual_seed(seed)
            decoder = PlanDecoder(
                inputs=n_inputs,
                width=width,
                depth=config.depth,
                heads=config.heads,
                horizon=config.horizon,
                kinds=kinds,
                dropout=config.dropout,
            )
            decoder = decoder.to(config.device)
            fit_decoder(decoder, train.inputs[rows], plans, config, rng)
        return PlanReadout(
            decoder=decoder,
            marginal=_marginal(plans, kinds),
            heads=config.heads,
        )

    def load(self, variant: str, arrays: Mapping[str, Floats]) -> Readout:  # noqa: ARG002
        state = {
            name: torch.from_numpy(np.array(array)) for name, array in arrays.items()
        }
        marginal = state.pop("marginal").numpy()
        heads = int(state.pop("heads").item())

        # The sizes of the decoder show in the shapes and names of its parameters.
        horizon, kinds = marginal.shape
        width, inputs = state["bottleneck.0.weight"].shape
        inner = [name for name in state if name.startswith("decoder.layers.")]
        layers = {name.split(".")[2] for name in inner}
        decoder = PlanDecoder(
            inputs=inputs,
            width=width,
            depth=len(layers),
            heads=heads,
            horizon=horizon,
            kinds=kinds,
            dropout=0.0,
        )
        decoder.load_state_dict(state)
        decoder = decoder.to(self.config.device)
        return PlanReadout(decoder=decoder, marginal=marginal, heads=heads)

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        """Score the decoded plans, see `score_plans`."""
        assert isinstance(readout, PlanReadout)
        plans, rows = _plans(test)
        decoded = np.zeros((0, *readout.marginal.shape), dtype=np.float32)
        if len(plans):
            decoded = readout.predict(test.inputs[rows])
        return score_plans(decoded, plans, readout.marginal, test.groups[rows], rng)

    def turn_scores(self, decoded: Floats, test: ProbeDataset) -> Mapping[str, Doubles]:
        """(N,) whether the first n actions are decoded ("prefix.n"); NaN for a plan
        that is shorter, and for a turn that is not decoded.
        """
        plans = test.labels
        named = decoded.argmax(axis=-1)
        right = np.logical_and.accumulate(named == plans, axis=1)
        # False for NaN too.
        long = plans > OVER
        scores = {}
        for n in range(1, plans.shape[1] + 1):
            if long[:, n - 1].any():
                hits = np.where(long[:, n - 1], right[:, n - 1], np.nan)
                scores[f"prefix.{n}"] = hits
        return scores


def _listed_actions(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the admissible actions of an episode.

    Raises:
        GdeError: the environment does not list its actions, or not the same in all
            turns.
    """
    listed = {turn.observation.actions for turn in trajectory.turns}
    if None in listed or len(listed) > 1:
        wanted = "an environment that lists the same actions in every turn"
        raise GdeError(f"plan: wanted {wanted}, unlike that of {trajectory.key}")
    return next(iter(listed), None) or ()


def _plans(dataset: ProbeDataset) -> tuple[Codes, Indices]:
    """(M, H) plans and the rows that have one."""
    rows = np.flatnonzero(~np.isnan(dataset.labels[:, 0]))
    return dataset.labels[rows].astype(np.int64), rows


def _marginal(plans: Codes, kinds: int) -> Floats:
    """(H, C) share of each action at each place."""
    counts = [(plans == kind).sum(axis=0) for kind in range(kinds)]
    by_place = np.stack(counts, axis=-1)

    # A place that no plan reaches has no actions, and shares of 0.
    totals = by_place.sum(axis=-1, keepdims=True)
    return np.asarray(by_place / np.maximum(totals, 1), dtype=np.float32)
