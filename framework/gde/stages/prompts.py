"""What the model was shown, in place of its activations: the tokens of each prompt."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Prompt = tuple[int, ...]
"""The tokens of a prompt, in order."""
Shown = tuple[int, int]
"""A place, counted from the end, because prompts grow at their beginning; and the token
there.
"""
Inputs = Mapping[Shown, int]
"""The input of each token at a place."""


def inputs_of(prompts: Sequence[Prompt]) -> Inputs:
    """An input for each token at a place that some of these prompts share, but not all:
    any other tells no two of them apart, or is of one alone.
    """
    counts = Counter(shown for prompt in prompts for shown in _shown(prompt))
    shared = (shown for shown, n in counts.items() if 1 < n < len(prompts))
    return {shown: i for i, shown in enumerate(sorted(shared))}


def shown_in(prompts: Sequence[Prompt], inputs: Inputs) -> NDArray[np.float32]:
    """(N, K) 1 for each token that a prompt shows, among the K inputs."""
    told = np.zeros((len(prompts), max(1, len(inputs))), dtype=np.float32)
    for i, prompt in enumerate(prompts):
        places = [inputs[shown] for shown in _shown(prompt) if shown in inputs]
        told[i, places] = 1
    return told


def _shown(prompt: Prompt) -> Iterator[Shown]:
    return enumerate(reversed(prompt))
