"""The transformer: each line of the text and each moment of the walk is one token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from babyai_player.reading import EFFECTS, Line, Moment, effect_of
from babyai_player.walks import ADVICE, Walk
from gde_plugins.babyai.worlds.scene import ACTIONS

WIDTH, LAYERS, HEADS = 96, 3, 4
SLOTS = 24
"""Number of words of a line that are read."""
REACH = 31
"""Largest distance in cells that is told from larger ones."""
UNKNOWN = 1
"""Number of a word that is not in the vocabulary; 0 is no word."""
NO_PLACE = 0
IGNORED = -100
"""Number of a target that does not count, as in torch."""


@dataclass(frozen=True)
class Batch:
    """Texts and walks as numbers, padded on the right; N walks, L lines, T moments."""

    words: torch.Tensor
    """(N, L, SLOTS) numbers of words."""
    places: torch.Tensor
    """(N, L, 2) places of lines, as cells ahead and to the right of the first pose."""
    actions: torch.Tensor
    """(N, T) the action before each moment; 0 at the beginning."""
    poses: torch.Tensor
    """(N, T, 5) place, place of the cell in front, and direction."""
    n_lines: torch.Tensor
    """(N,) numbers of lines."""


class Network(nn.Module):
    """Gives the expert's next action, and the effect of each action, at each moment."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        super().__init__()
        self.numbers: Mapping[str, int] = {
            word: number for number, word in enumerate(vocabulary, start=UNKNOWN + 1)
        }
        n_words, n_places = len(vocabulary) + UNKNOWN + 1, 2 * REACH + 2
        self.word = nn.Embedding(n_words, WIDTH, padding_idx=0)
        # A word means something else at another place of the line.
        self.slot = nn.Parameter(1 + 0.5 * torch.randn(SLOTS, WIDTH))
        self.action = nn.Embedding(len(ACTIONS) + 1, WIDTH)
        self.direction = nn.Embedding(4, WIDTH)
        self.ahead = nn.Embedding(n_places, WIDTH)
        self.right = nn.Embedding(n_places, WIDTH)
        self.front_ahead = nn.Embedding(n_places, WIDTH)
        self.front_right = nn.Embedding(n_places, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH,
            HEADS,
            2 * WIDTH,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.layers = nn.TransformerEncoder(
            layer, LAYERS, nn.LayerNorm(WIDTH), enable_nested_tensor=False
        )
        self.advice = nn.Linear(WIDTH, len(ADVICE))
        self.effects = nn.Linear(WIDTH, len(ACTIONS) * len(EFFECTS))

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (N, T, ADVICE) of the next action, and (N, T, ACTIONS, EFFECTS)."""
        lines = (self.word(batch.words) * self.slot).sum(dim=2)
        lines = lines + self.ahead(batch.places[..., 0])
        lines = lines + self.right(batch.places[..., 1])
        moments = self.action(batch.actions)
        tables = (
            self.ahead,
            self.right,
            self.front_ahead,
            self.front_right,
            self.direction,
        )
        for number, table in enumerate(tables):
            moments = moments + table(batch.poses[..., number])

        n, n_lines, _ = lines.shape
        n_moments = moments.shape[1]
        # Lines see lines; a moment sees lines, itself and earlier moments. Moments have
        # no other mark of their order, so that walks may be longer than in training.
        hidden = torch.ones(n_lines + n_moments, n_lines + n_moments).triu(1).bool()
        hidden[:n_lines, :n_lines] = False
        padding = torch.zeros(n, n_lines + n_moments, dtype=torch.bool)
        padding[:, :n_lines] = torch.arange(n_lines) >= batch.n_lines[:, None]
        out = self.layers(
            torch.cat([lines, moments], dim=1),
            mask=hidden,
            src_key_padding_mask=padding,
        )[:, n_lines:]
        effects = self.effects(out).unflatten(-1, (len(ACTIONS), len(EFFECTS)))
        return self.advice(out), effects

    def batch(self, asked: Sequence[tuple[Sequence[Line], Sequence[Moment]]]) -> Batch:
        """Texts and walks as numbers."""
        n = len(asked)
        most_lines = max(len(lines) for lines, _ in asked)
        most_moments = max(len(moments) for _, moments in asked)
        batch = Batch(
            words=torch.zeros(n, most_lines, SLOTS, dtype=torch.long),
            places=torch.full((n, most_lines, 2), NO_PLACE),
            actions=torch.zeros(n, most_moments, dtype=torch.long),
            poses=torch.zeros(n, most_moments, 5, dtype=torch.long),
            n_lines=torch.tensor([len(lines) for lines, _ in asked]),
        )
        for row, (lines, moments) in enumerate(asked):
            first = moments[0].pose
            words = [self._words(line) for line in lines]
            places = [
                (NO_PLACE, NO_PLACE)
                if line.place is None
                else _shown(first.sees(line.place))
                for line in lines
            ]
            poses = []
            for moment in moments:
                pose = moment.pose
                here = _shown(first.sees((pose.x, pose.y)))
                front = _shown(first.sees(pose.front))
                poses.append((*here, *front, (pose.direction - first.direction) % 4))
            actions = [
                1 + ACTIONS.index(one.action) if one.action else 0 for one in moments
            ]
            batch.words[row, : len(lines)] = torch.tensor(words)
            batch.places[row, : len(lines)] = torch.tensor(places)
            batch.actions[row, : len(moments)] = torch.tensor(actions)
            batch.poses[row, : len(moments)] = torch.tensor(poses)
        return batch

    def _words(self, line: Line) -> list[int]:
        numbers = [self.numbers.get(word, UNKNOWN) for word in line.words[:SLOTS]]
        return numbers + [0] * (SLOTS - len(numbers))


def _shown(place: tuple[int, int]) -> tuple[int, int]:
    """The numbers of a place that is given in cells ahead and to the right."""
    ahead, right = place
    return _number(ahead), _number(right)


def _number(cells: int) -> int:
    return 1 + REACH + max(-REACH, min(REACH, cells))


def targets(walks: Sequence[Walk]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(N, T) the advice at each moment, the action taken there, and its effect."""
    longest = max(len(walk.moments) for walk in walks)
    advice = torch.full((len(walks), longest), IGNORED)
    actions = torch.zeros(len(walks), longest, dtype=torch.long)
    effects = torch.full((len(walks), longest), IGNORED)
    for row, walk in enumerate(walks):
        for place, wanted in enumerate(walk.advice):
            advice[row, place] = ADVICE.index(wanted)
        for place, moment in enumerate(walk.moments[1:]):
            effect = effect_of(walk.moments[place].pose, moment.pose)
            actions[row, place] = ACTIONS.index(moment.action)
            effects[row, place] = EFFECTS.index(effect)
    return advice, actions, effects
