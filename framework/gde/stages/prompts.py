"""What the model was shown, in place of its activations: the tokens of each prompt."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gde.data.arrays import Floats

MOST = 4096
"""Inputs of long prompts, about as many numbers as a large model's activations have."""
Prompt = Sequence[int]
"""The tokens of a prompt, in order."""
Shown = tuple[int, int]
"""A place, counted from the end, because prompts grow at their beginning; and the token
there.
"""
Inputs = Mapping[Shown, int]
"""The input of each token at a place."""


def inputs_of(prompts: Sequence[Prompt]) -> Inputs:
    """An input for each token at a place that some of these prompts share, but not all:
    any other tells no two of them apart, or is of one alone. Of more than `MOST`, those
    that most prompts share.
    """
    counts = Counter(shown for prompt in prompts for shown in _shown(prompt))
    shared = [shown for shown, n in counts.items() if 1 < n < len(prompts)]
    shared.sort(key=lambda shown: (-counts[shown], shown))
    return {shown: i for i, shown in enumerate(sorted(shared[:MOST]))}


def packed(tokens: Sequence[int]) -> Prompt:
    """A prompt in 4 bytes a token: all those of a large run are kept."""
    return array("i", tokens)


def shown_in(prompts: Sequence[Prompt], inputs: Inputs) -> Floats:
    """(N, K) 1 for each token that a prompt shows, among the K inputs."""
    told = np.zeros((len(prompts), max(1, len(inputs))), dtype=np.float32)
    for i, prompt in enumerate(prompts):
        places = [inputs[shown] for shown in _shown(prompt) if shown in inputs]
        told[i, places] = 1
    return told


def _shown(prompt: Prompt) -> Iterator[Shown]:
    return enumerate(reversed(prompt))
