"""Reads the action in a language model's answer, or says why there is none.

The strict reading takes an answer only in exactly the form that was asked for. The
lenient one also takes answers of other forms, by the rules of `gde.data.answer_rules`,
and the decision's detail names the rule. Neither guesses: an answer that names two
actions equally names none.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gde.data.action_names import meant
from gde.data.answer_parts import LEFT_OPEN, chosen
from gde.data.answer_rules import (
    CONDITION,
    KEY,
    RULES,
    Rule,
    ends_with_object,
    find,
    last_line,
)
from gde.data.answer_text import own, own_turn, plain, tidy
from gde.data.completion import Completion
from gde.data.tool_call import split_calls
from gde.data.trajectory import Decision, Status

Form = Literal["json", "text", "schema", "tools", "thought"]
"""How an action is asked for: a JSON object, the plain action on the last line, an
object of a JSON schema that the server enforces, a call of a tool, or a thought and the
action after it (ReAct).
"""
FORMS: dict[Form, str] = {
    "json": f'nothing but a JSON object with a text under "{KEY}"',
    "text": "an action alone on the last line",
    "schema": f'nothing but a JSON object with a text under "{KEY}"',
    "tools": "one call of the tool",
    "thought": "'Thought: ...' and below it 'Action: ...'",
}
"""What is wanted, in the words of a reason."""
TOOL = "act"
"""The name of the tool."""
THOUGHT = re.compile(
    r"\AThought:.*?^Action:[ \t]*(?P<action>.*)\Z", re.DOTALL | re.MULTILINE
)
LABEL = re.compile(r"^(?:Thought|Action|Observation)(?: \d+)?:", re.MULTILINE)
IMAGINED = re.compile(r"^\W*Observation(?: \d+)?\W*:", re.MULTILINE)
"""An observation that the model has made up, and after it maybe further actions."""
NOTE = "read by rule: "
"""The beginning of the detail of a decision that was read leniently."""
LEFT_IN = "the server left a token of its format in the answer"
REFUSAL = re.compile(
    r"\A\W*(?:(?:i['\u2019]?m|i am|we['\u2019]?re)?\s*(?:very |so |truly )?sorry\b|my apologies\b|i apologi[sz]e\b"
    r"|i\s+(?:can['\u2019]?t|can ?not|could not|won['\u2019]?t|will not|must decline|decline|am not able|am unable)\b"
    r"|i['\u2019]m (?:unable|not able)\b|as an ai\b)",
    re.IGNORECASE,
)
SHOWN = 80
"""Characters of an answer that a reason quotes."""
LISTED = 8
"""Actions that a reason lists."""
STATED: Sequence[Rule] = ("json", "marker")
"""The rules for statements, which prose is not; the first has an end."""
SERVED = "a served model keeps to the form with agent.actions=schema or tools"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The action of an answer, or why it has none."""

    action: str | None = None
    rule: Rule | None = None
    """The rule that read the action; None where the answer has the form asked for."""
    status: Status = "ok"
    reason: str = ""
    named: str = ""
    """The text in the place of the action, where that is inadmissible."""
    left_in: bool = False
    """Whether a server left tokens of its format in the answer."""

    @classmethod
    def failed(cls, status: Status, reason: str) -> "Reading":
        """A reading without an action."""
        return cls(status=status, reason=reason)

    @property
    def note(self) -> str:
        """For the detail of a decision; empty for the form asked for."""
        if self.rule:
            return f"{NOTE}{self.rule}"
        return LEFT_IN if self.left_in else ""

    def decision(self, completion: Completion) -> Decision:
        """The decision for the action, or the unusable one."""
        if self.action is None:
            return Decision.unusable(self.status, self.reason, completion)
        return Decision(
            status="ok", action=self.action, detail=self.note, completion=completion
        )


def is_strict(decision: Decision) -> bool:
    """Whether the answer is usable and has exactly the form that was asked for."""
    return decision.action is not None and not decision.detail.startswith(NOTE)


def read_answer(
    completion: Completion,
    actions: Sequence[str] | None,
    form: Form = "json",
    *,
    strict: bool = False,
) -> Reading:
    """Read the action of an answer.

    Args:
        completion: the answer.
        actions: the admissible actions; None where any text may be tried, of any length
            and number of lines.
        form: how the action was asked for.
        strict: whether to take only an answer of exactly this form, in JSON as in
            Arghal et al. (2026).
    """
    if nothing := read_silence(completion):
        return nothing
    # The last line of an answer that was cut off is not its last.
    if form in {"text", "thought"} and completion.finish == "length":
        return _cut(completion)
    text = own_turn(completion.text) if actions is not None else completion.text
    exact = _exact(text, actions, form)
    if exact and (exact.action is not None or strict):
        return replace(exact, left_in=text != completion.text)

    wanted = f"wanted {FORMS[form]}, got {quoted(completion.text)}"
    if form == "thought" and IMAGINED.search(completion.text):
        remedy = "agent.rest=dropped reads it up to its action"
        return Reading.failed("unparsable", f"{wanted}; {remedy}")

    # A thought names actions that it does not take.
    rules = STATED if form == "thought" else RULES
    otherwise = wanted
    if form in {"json", "text"} and not strict:
        otherwise = f"found no action in {quoted(completion.text)}; {SERVED}"
    lenient = read_freely(completion, actions, otherwise, rules)
    if not strict or lenient.status in {"truncated", "refusal"}:
        return lenient
    if completion.finish == "length":
        return _cut(completion)
    if lenient.action is not None:
        wanted += f"; agent.strict=false reads {quoted(lenient.action)}"
    return Reading.failed("unparsable", wanted)


def read_silence(completion: Completion) -> Reading | None:
    """Why a completion has no answer at all; None where it has some text."""
    if completion.finish == "refusal":
        text = quoted(completion.text.strip())
        return Reading.failed("refusal", f"the model refused: {text}")
    if completion.text.strip():
        return None
    if completion.finish == "length":
        return _cut(completion)
    said = "reasoned, but ended" if completion.reasoning else "ended"
    return Reading.failed("empty", f"the model {said} without an answer")


def read_freely(
    completion: Completion,
    actions: Sequence[str] | None,
    otherwise: str,
    rules: Sequence[Rule] = RULES,
) -> Reading:
    """Read the action of an answer of any form.

    Args:
        completion: an answer with some text.
        actions: the admissible actions; None for any text.
        otherwise: the reason for an answer that names no action.
        rules: the rules that may read it.
    """
    text = completion.text if actions is None else chosen(own(completion.text))
    text = text.strip()
    refused = bool(REFUSAL.match(text))
    cut = completion.finish == "length"
    if cut and not ends_with_object(text):
        return _cut(completion)
    # A sentence of refusal may name an action.
    if cut or refused:
        rules = [rule for rule in rules if rule in STATED[: 1 if cut else 2]]

    # Where any text may be an action, it is taken as it stands.
    spellings = (str,) if actions is None else (tidy, plain)
    inadmissible = None
    if actions is not None and (CONDITION.search(text) or LEFT_OPEN.search(text)):
        return Reading.failed("unparsable", otherwise)
    for spelling in spellings:
        spelled = spelling(text)
        for rule in rules:
            reading = _by_rule(rule, spelled, actions)
            if reading and (reading.status != "invalid_action" or rule == "json"):
                return reading
            inadmissible = inadmissible or reading

    if refused:
        return Reading.failed("refusal", f"the model refused: {quoted(text)}")
    if cut:
        return _cut(completion)
    return inadmissible or Reading.failed("unparsable", otherwise)


def read_name(
    named: str, actions: Sequence[str] | None, *, strict: bool = False
) -> Reading:
    """Read the text in the place of an action; strictly, its letter case alone is free."""
    if actions is None:
        found = [named.strip()]
    elif not strict:
        found = meant(named, actions)
    elif named in actions:
        found = [named]
    else:
        wanted = named.strip().casefold()
        found = [each for each in actions if each.casefold() == wanted]
    if len(set(found)) == 1 and _is_admissible(found[0], actions):
        return Reading(action=found[0])

    wanted = "a text"
    if actions is not None:
        wanted = f"one of {', '.join(actions)}"
        if len(actions) > LISTED:
            wanted = f"one of the {len(actions)} admissible actions"
    reason = f"wanted {wanted}; got {quoted(named)}"
    return Reading(status="invalid_action", reason=reason, named=named)


def quoted(text: str) -> str:
    """Quote, escape and shorten a text, so that it fits a table and any journal."""
    if len(text) <= SHOWN:
        return repr(text)
    return f"{text[:SHOWN]!r}... ({len(text)} characters)"


def _exact(text: str, actions: Sequence[str] | None, form: Form) -> Reading | None:
    """Read an answer of exactly the form asked for; None for one of another form."""
    named = _named(text, form, several_lines=actions is None)
    if named is None:
        return None
    return read_name(named, actions, strict=True)


def _named(text: str, form: Form, *, several_lines: bool) -> str | None:
    """The text that stands for the action in this form."""
    found: object = None
    match form:
        case "json" | "schema":
            try:
                found = json.loads(text.strip())
            except (ValueError, RecursionError):
                return None
        case "text":
            return None if REFUSAL.match(text) else last_line(text).strip()
        case "tools":
            _, calls = split_calls(text)
            if len(calls) == 1 and calls[0].name == TOOL:
                found = calls[0].arguments
        case "thought":
            return _after_thought(text.strip(), several_lines)
    named = found.get(KEY) if isinstance(found, dict) else None
    return named if isinstance(named, str) else None


def _after_thought(text: str, several_lines: bool) -> str | None:
    found = THOUGHT.match(text)
    action = found["action"].strip() if found else ""
    if LABEL.search(action) or ("\n" in action and not several_lines):
        return None
    return action or None


def _by_rule(rule: Rule, text: str, actions: Sequence[str] | None) -> Reading | None:
    """Read the action by one rule; None where the rule finds nothing."""
    found = _distinct(find(rule, text, actions), actions)
    if not found:
        return None
    if len(found) > 1:
        listed = " and ".join(quoted(each) for each in found[:LISTED])
        return Reading.failed("unparsable", f"the answer names {listed} equally")
    return replace(read_name(found[0], actions), rule=rule)


def _distinct(named: Sequence[str], actions: Sequence[str] | None) -> list[str]:
    """The different actions that the texts mean; a text that means none stands for
    itself.
    """
    found: dict[str, None] = {}
    for text in named:
        several = [text.strip()] if actions is None else meant(text, actions)
        found |= dict.fromkeys(several or [text])
    return list(found)


def _is_admissible(action: str, actions: Sequence[str] | None) -> bool:
    if actions is not None:
        return action in actions
    try:
        # JSON can spell half characters (lone surrogates), which no journal can store.
        action.encode()
    except UnicodeEncodeError:
        return False
    return bool(action)


def _cut(completion: Completion) -> Reading:
    text = completion.text.strip()
    if text:
        reason = f"the answer was cut off: {quoted(text)}"
    else:
        n = completion.n_completion
        reason = "cut off before an answer" + (
            "" if n is None else f", after {n} tokens"
        )
    return Reading.failed("truncated", f"{reason}; raise agent.max_tokens")
