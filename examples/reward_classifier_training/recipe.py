"""How a reward model is trained."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt

SCRATCH = "scratch"


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model is trained; the defaults are those of Shen et al. (2026), table 6,
    where it tells them.
    """

    base: str = SCRATCH
    """The folder of a language model of transformers; scratch for a small one with
    random weights and the words of the data, which needs no download.
    """
    objective: Literal["ranking", "regression"] = "ranking"
    """Loss: ranking of the chosen text above the rejected one (Shen et al. 2026, eq.
    13), or regression of the true reward at the end of each text.
    """
    rank: Annotated[int, Ge(0)] = 16
    """Of the LoRA adapters on all linear layers; 0 trains every weight, as scratch does
    whatever is said here.
    """
    alpha: Annotated[int, Ge(1)] = 32
    """Scale of the LoRA adapters."""
    centring: Annotated[float, Ge(0)] = 0.01
    """Weight of the square of the two rewards' sum, which keeps rewards about zero."""
    epochs: Annotated[int, Ge(1)] = 3
    """Number of passes over the pairs."""
    batch_size: Annotated[int, Ge(1)] = 16
    """Number of pairs per step."""
    learning_rate: Annotated[float, Gt(0)] = 1e-4
    """Initial learning rate; it falls to zero along a cosine."""
    max_length: Annotated[int, Ge(16)] = 8192
    """Tokens of a text; of a longer one the goal and the end are read."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Number format of the base model's weights."""
    checkpointing: bool = False
    """Whether activations are computed again for the gradient, which takes time and
    saves memory.
    """
    held_out: Annotated[float, Ge(0)] = 0.1
    """Share of the tasks that accuracy is measured on, and that are not trained on."""
    device: str = "cpu"
    """Device: cpu, cuda or mps."""
    seed: Annotated[int, Ge(0)] = 0
    """Weights of the head, and the order of the pairs, follow from it."""
