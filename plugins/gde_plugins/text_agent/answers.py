"""Reads the action of a model's answer, or the reason for its absence.

Nothing is guessed.
"""

import json
import re
from collections.abc import Sequence

from gde.data.completion import Completion
from gde.data.trajectory import Decision

KEY = "action"
FENCE = re.compile(r"\A```[a-zA-Z]*\s*\n?(.*?)\n?\s*```\Z", re.DOTALL)
TRAILING_COMMA = re.compile(r",(\s*[}\]])")
REFUSAL = re.compile(
    r"\A\W*(?:(?:i['\u2019]?m|i am|we['\u2019]?re)?\s*(?:very |so |truly )?sorry\b|my apologies\b|i apologi[sz]e\b"
    r"|i\s+(?:can['\u2019]?t|can ?not|could not|won['\u2019]?t|will not|must decline|decline|am not able|am unable)\b"
    r"|i['\u2019]m (?:unable|not able)\b|as an ai\b)",
    re.IGNORECASE,
)
SHOWN = 80


def decide(
    completion: Completion, actions: Sequence[str] | None, *, strict: bool = True
) -> Decision:
    """Classify an answer.

    Args:
        completion: what the model said. actions: the admissible actions, None where any
        text may be tried, of any length and number of lines; white
            space around it is left out.
        strict: the whole answer must be the JSON object, as in Arghal et al. (2026);
        otherwise code fences around it
            and trailing commas in it are forgiven.
    """
    text = completion.text.strip()
    if completion.finish == "refusal":
        return Decision.unusable(
            "refusal", f"the model refused: {_shown(text)}", completion
        )
    if not text:
        return _nothing(completion)
    named = _named_action(text if strict else _forgiven(text))
    if named is not None:
        return _admitted(named, actions, completion)
    if completion.finish == "length":
        return Decision.unusable(
            "truncated", f"the answer was cut off: {_shown(text)}", completion
        )
    if REFUSAL.match(text):
        return Decision.unusable(
            "refusal", f"the model refused: {_shown(text)}", completion
        )
    wanted = f'wanted nothing but a JSON object with a text under "{KEY}"'
    return Decision.unusable("unparsable", f"{wanted}, got {_shown(text)}", completion)


def _nothing(completion: Completion) -> Decision:
    if completion.finish == "length":
        n = completion.n_completion
        after = "" if n is None else f", after {n} tokens"
        return Decision.unusable(
            "truncated", f"cut off before an answer{after}", completion
        )
    return Decision.unusable("empty", "the model ended without an answer", completion)


def _named_action(text: str) -> str | None:
    """Return the text under "action" of a JSON object."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    named = answer.get(KEY) if isinstance(answer, dict) else None
    return named if isinstance(named, str) else None


def _forgiven(text: str) -> str:
    fenced = FENCE.match(text)
    return TRAILING_COMMA.sub(r"\1", fenced.group(1) if fenced else text)


def _admitted(
    named: str, actions: Sequence[str] | None, completion: Completion
) -> Decision:
    if actions is None:
        if named.strip() and _writable(named):
            return Decision.act(named.strip(), completion)
        return Decision.unusable(
            "invalid_action", f"wanted a text, got {_shown(named)}", completion
        )
    if named in actions:
        return Decision.act(named, completion)
    folded = named.strip().casefold()
    for action in actions:
        if action.casefold() == folded:
            return Decision.act(action, completion)
    listed = ", ".join(actions)
    return Decision.unusable(
        "invalid_action", f"wanted one of {listed}; got {_shown(named)}", completion
    )


def _writable(text: str) -> bool:
    """Return whether the journal can store the text.

    JSON can spell lone surrogates, which UTF-8 cannot.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(text: str) -> str:
    """Quote, escape and shorten a text, so that it fits a table and any journal."""
    return (
        repr(text)
        if len(text) <= SHOWN
        else f"{text[:SHOWN]!r}... ({len(text)} characters)"
    )
