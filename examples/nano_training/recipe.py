"""The schedule of nano's training, as a function of the step alone."""

from dataclasses import dataclass
from pathlib import Path

SMALL = (5, 7, 9)
MIXED = (5, 7, 7, 9, 9, 11, 11, 13, 15)
LARGE = (7, 9, 9, 11, 11, 13, 13, 15, 15)
LEARNING_RATE = 2e-3
FURTHER_LEARNING_RATE = 5e-4
"""Learning rate from trained weights on."""
WARMUP = 200
"""Steps of the linear warm-up in a training of the usual length."""
LOWEST = 0.02
"""Lower bound of the decay, as a share of the learning rate."""


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A phase of the training."""

    steps: int
    """Number of batches in a training of the usual length."""
    sizes: tuple[int, ...]
    """Grid sizes, drawn uniformly."""
    p_practice: float
    """Share of batches with practice samples instead of episodes."""
    cell_weight: float
    """Weight of the cell loss; the ends loss has weight 1, the look loss 2."""
    decays: bool = False
    """Whether the learning rate falls linearly to zero within the phase."""


PHASES = (
    Phase(steps=600, sizes=SMALL, p_practice=0.6, cell_weight=1.0),
    Phase(steps=1400, sizes=MIXED, p_practice=0.6, cell_weight=1.0),
    Phase(steps=500, sizes=MIXED, p_practice=0.3, cell_weight=1.0),
    Phase(steps=500, sizes=LARGE, p_practice=0.3, cell_weight=0.2),
    Phase(steps=1250, sizes=LARGE, p_practice=0.1, cell_weight=0.2, decays=True),
)
"""Small grids and practice first; large grids and episodes once cells can be looked
up.
"""
FURTHER = (Phase(steps=800, sizes=MIXED, p_practice=0.1, cell_weight=0.2, decays=True),)
"""The only phase of a training that goes on from trained weights."""
SHIPPED_STEPS = sum(phase.steps for phase in PHASES)
TOKENS = 4800


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Length and seed of a training; the defaults are those of the shipped weights."""

    steps: int = SHIPPED_STEPS
    """Number of batches; another number stretches or shortens all phases alike."""
    tokens: int = TOKENS
    """Approximate number of tokens of a batch."""
    seed: int = 0
    """Random seed of weights and samples."""
    auxiliary: bool = True
    """Whether to train with the three auxiliary losses."""
    turns: int = 0
    """Largest number of earlier turns in an episode's prompt; drawn uniformly."""
    start: Path | None = None
    """Folder of trained weights to go on from; None for a new model."""

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases of this training."""
        return PHASES if self.start is None else FURTHER


def phase(recipe: Recipe, step: int) -> Phase:
    """Return the phase of a step."""
    return _place(recipe, step)[0]


def learning_rate(recipe: Recipe, step: int) -> float:
    """Return the learning rate of a step: warm-up, plateau and decay."""
    now, progress = _place(recipe, step)
    left = max(LOWEST, 1 - progress) if now.decays else 1.0
    highest = LEARNING_RATE if recipe.start is None else FURTHER_LEARNING_RATE
    return highest * min(left, (_done(recipe, step) + 1) / WARMUP)


def _done(recipe: Recipe, step: int) -> float:
    """Return the step of a training of the usual length that a step stands for."""
    return step * sum(phase.steps for phase in recipe.phases) / recipe.steps


def _place(recipe: Recipe, step: int) -> tuple[Phase, float]:
    """Return the phase and its completed share."""
    done = _done(recipe, step)
    end = 0
    for phase in recipe.phases:
        end += phase.steps
        if done < end:
            break
    return phase, 1 - (end - done) / phase.steps
