"""nano's tokenizer: one token per cell of a grid, index or pair of coordinates.

Any printable ASCII text can be encoded, character by character where no longer token
fits; other characters become `<unk>`.
"""

from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

SPECIAL = (
    "<|endoftext|>",
    "<|return|>",
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|constrain|>",
    "<|call|>",
)
PAD, EOS, UNKNOWN = "<|endoftext|>", "<|return|>", "<unk>"
LARGEST = 25
"""Rows and columns of the largest grid."""
WORDS = (
    "system",
    "user",
    "assistant",
    "analysis",
    "final",
    "commentary",
    "Reasoning",
    " low",
    " medium",
    " high",
    "Go",
    " from",
    " to",
    " by",
    " the",
    " shortest",
    " way",
    " is",
    " wall",
    " free",
    "Answer",
    " Answer",
    " UP",
    " DOWN",
    " LEFT",
    " RIGHT",
    "UP",
    "DOWN",
    "LEFT",
    "RIGHT",
    '{"action": "',
    '"}',
    "action",
    "Look",
    " around",
    "Trace",
    " ways",
    " path",
    " move",
)
PIECES = r'\{"action": "|"\}| ?\n\d*| ?\d+,\d+| {0,2}(?:[A-Za-z]+|\d+|[^\sA-Za-z0-9])| '
CHAT_TEMPLATE = """\
<|start|>system<|message|>Reasoning: {{ reasoning_effort or "low" }}<|end|>
{%- for message in messages -%}
  {%- if message.role == "user" -%}
    {{ "<|start|>user<|message|>" + message.content + "<|end|>" }}
  {%- elif message.role == "assistant" -%}
    {{ "<|start|>assistant<|channel|>final<|message|>" + message.content + "<|end|>" }}
  {%- else -%}
    {{ raise_exception("nano takes messages of user and assistant only") }}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{ "<|start|>assistant" }}
{%- endif -%}
"""


def coordinates(row: int, column: int) -> str:
    """Return the token of a cell in an analysis."""
    return f" {row},{column}"


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Make the tokenizer with its chat template, as transformers loads it."""
    fast: Any = PreTrainedTokenizerFast
    tokenizer: PreTrainedTokenizerFast = fast(
        tokenizer_object=_pieces(),
        eos_token=EOS,
        pad_token=PAD,
        unk_token=UNKNOWN,
        clean_up_tokenization_spaces=False,
        chat_template=CHAT_TEMPLATE,
    )
    return tokenizer


def _pieces() -> Tokenizer:
    vocabulary = _vocabulary()
    scores = [(token, -20.0 if _is_fallback(token) else -1.0) for token in vocabulary]
    tokenizer = Tokenizer(
        models.Unigram(scores, unk_id=vocabulary.index(UNKNOWN), byte_fallback=False)
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(PIECES), "isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in SPECIAL]
    )
    return tokenizer


def _vocabulary() -> list[str]:
    symbols = "#_AG?*KDCSEPO.;:-"
    numbers = range(LARGEST)
    tokens = [*SPECIAL, UNKNOWN, "\n", *map(chr, range(32, 127))]
    tokens += [gap + symbol for gap in (" ", "  ") for symbol in symbols]
    tokens += [f"{gap}{number}" for gap in ("", " ", "  ") for number in numbers]
    tokens += [" \n"]
    tokens += [f"{gap}\n{number}" for gap in (" ", "") for number in numbers]
    tokens += [coordinates(row, column) for row in numbers for column in numbers]
    return list(dict.fromkeys([*tokens, *WORDS]))


def _is_fallback(token: str) -> bool:
    """Single characters are the last resort, those of a grid excepted."""
    return len(token) == 1 and token not in "0123456789AG#_"
