"""Reading the actions that an answer plans, in whatever words it does so.

A part is read as a whole: actions by their names and synonyms, how often each, and words
that say nothing. Any other word makes it no plan, but in an explanation after it.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from gde.data.answer import REFUSAL
from gde.data.answer_parts import (
    ITEM,
    RETRACTED,
    UNSURE,
    remaining,
    statements,
    without_comments,
)
from gde.data.answer_text import plain
from gde_plugins.babyai.tasks.plan_words import EMPTY, SYNONYMS, in_names
from gde_plugins.babyai.tasks.tables import as_lists

Plan = tuple[str, ...]
STATEMENT = (
    r"(?:action[ \t_]+)?(?:sequence|plan|path)(?:[ \t]+of[ \t]+actions?)?|(?:actions|steps|moves|instead|so)"
    r"|aktionsfolge|aktionen|séquence(?:[ \t]+d'actions)?|secuencia(?:[ \t]+de[ \t]+acciones)?"
    r"|sequenza(?:[ \t]+di[ \t]+azioni)?|sequência(?:[ \t]+de[ \t]+ações)?|piano|plano"
    r"|план|последовательность(?:[ \t]+действий)?"
    r"|动作序列|计划|行動列|行動?計画|행동(?:[ \t]+순서)?|계획"
)
TOKEN = re.compile(
    rf"(?P<action>{'|'.join(SYNONYMS)})(?!\w)"
    r"|(?P<label>(?:step|action)[ \"']*[:=#]?[ ]*\d+[.:)]?)"
    r"|(?P<listed>\d{1,3}[\"']?[.):](?!\d)(?P<last>[ \t]*(?![^\n]))?)"
    r"|(?P<number>x\d{1,4}(?!\w)|\d{1,3}(?![\w.]))"
    rf"|(?P<boundary>[,;\n]|\.(?!\.)|-+>|=>|\u2192|\u27a1|\u2b9e|>|\b(?:and|then)\b)"
    rf"|(?P<empty>(?:{'|'.join(sorted(EMPTY))})(?!\w)|[然后再接着最]+|[-*\u2022\[\](){{}}\"':|\s=_!<+]+)"
)
MOST = 2_000
"""Actions in a plan that is read."""
CUT = re.compile(
    r"[.;:!]\s+|\s+-+\s+|\.{3}|\s+(?=\()|,?\s+(?P<because>because|since|so that|which)\b"
)
OPEN = re.compile(r"\.{3}\W*\Z|\betc\b")
"""A plan without its end."""
EMPTY_LIST = re.compile(
    r"^\s*\w+\s*=\s*\[\s*\]\s*$|^\s*def \w+\([^()]*\):\s*$", re.MULTILINE
)
OTHERWISE = re.compile(
    r"\W*(?:(?:or|but|not|oder|ou|wait|hmm|actually|alternatively)\b"
    r"|(?:then|next|after that|finally)\b(?! (?:i|it|we|you|the (?:agent|robot|mission))\b)"
    r"|no\b(?=[,.:;!])|\w+ \+=|\d)",
    re.IGNORECASE,
)
"""The beginning of what takes a plan back, or goes on with it."""
THOUGHT = re.compile(r"^\W*thought\b[^\n]*", re.IGNORECASE | re.MULTILINE)
TOLD = (
    r"(?:^|[.!?;]\s+)(?!\W*(?:the|this|that|these|there|here|i|we|you|it|its|my|our|your|a|an|in|on|at|from|to|so"
    r"|since|because|as|after|if|let|sure|ok\w*|now|both|no|for|with|all|one|two|agent"
    r"|give|nice|good|great|well|easy|el|la|le|der|die|das|der)\b|[^\n.]*:\s*$)\W*[^\W\d]"
    r"|\b(?:i|we|you|agent|robot|it) (?!(?:am|is|are|was|have|has|had|needs?|wants?"
    r"|think|believe|sees?|know|must|can|could"
    r"|should|would|will|find|found|faces?|looks?|stands?|starts?|begins?|ends?|count|get|assume|suggest|propose"
    r"|recommend|give|chose|choose|now|also|only|just|do|does|use|takes \w+ (?:action|step|move)s)\b)[a-z]+"
)
"""A sentence that begins as a command does, or tells what somebody does."""
ACTS = re.compile(
    rf"{TOLD}|\b(?:turn|rotate|spin|go|move|walk|head|step|cross|jump|back(?:track)?|repeat|keep|advance|proceed|continue"
    r"|left|right|forward|pick|pickup|drop|toggle|do|take|run|return|follow|enter|open|reach|face)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""What may be an action of a plan, or several, in words that are not read."""
FEWEST_WORDS = 3
"""Words of an explanation."""
MOST_CUTS = 30
"""Places in a line where an explanation may begin."""


def read_planned(answer: str) -> Plan | None:
    """The actions that the answer concludes with; None where it plans none, or leaves
    more than one reading.
    """
    text = EMPTY_LIST.sub("", as_lists(plain(answer))).strip()
    if REFUSAL.match(text):
        return None
    if whole := _actions(text):
        return whole
    for rest in statements(text, STATEMENT):
        if UNSURE.search(rest.split("\n", 1)[0].split(". ", 1)[0]):
            return None
        if found := _beginning(rest):
            return found
    for part in remaining(text):
        if found := _beginning(part):
            return None if is_only_part(part, text, ACTS) else found
    return None


def is_only_part(part: str, text: str, more: re.Pattern[str]) -> bool:
    """Whether a text plans more than a part, in words that are not read.

    Args:
        more: what plans more where it comes before the part, and is not taken back.
    """
    before, _, after = text.rpartition(part)
    kept = THOUGHT.sub("", RETRACTED.split(before)[-1])
    return bool(more.search(kept) or OTHERWISE.match(after))


def _beginning(part: str) -> Plan | None:
    """The plan at the beginning of a part, after which only prose stands."""
    plan: Plan = ()
    lines = part.splitlines()
    for n, line in enumerate(lines):
        if not line.strip():
            continue
        found = _actions(line)
        if found is None and plan:
            is_list = bool(lines[n - 1].strip()) and ITEM.match(line)
            return None if is_list or OTHERWISE.match(line) else plan
        if found is None:
            return _explained(line)
        plan += found
    return plan or None


def _explained(line: str) -> Plan | None:
    """The plan of a line that explains it after its end."""
    plan, rest = None, ""
    for cut in [*CUT.finditer(line)][:MOST_CUTS]:
        if found := _actions(line[: cut.start()]):
            if cut["because"]:
                return found
            plan, rest = found, line[cut.end() :]
    pieces = re.split(r"[,;.]", rest)[:MOST_CUTS]
    is_prose = len(rest.split()) >= FEWEST_WORDS and not any(map(_actions, pieces))
    return plan if is_prose and not OTHERWISE.match(rest) else None


@lru_cache(maxsize=4096)
def _actions(part: str) -> Plan | None:
    """The actions of a part that says nothing else; None where it does, or has none."""
    part = without_comments(part)
    if UNSURE.search(part) or OPEN.search(part) or "/" in part:
        return None
    text = in_names(part)
    tokens = []
    place = 0
    while place < len(text):
        token = TOKEN.match(text, place)
        if token is None:
            return None
        tokens.append(token)
        place = token.end()
    return _counted(tokens)


def _counted(tokens: Sequence[re.Match[str]]) -> Plan | None:
    """Each action as often as it is said to be done: "forward x3" or "3 forward"."""
    plan: list[str] = []
    pending, listed = 0, ""
    before = ""
    for token in tokens:
        kind, said = token.lastgroup or "", token[0].strip(" x.):\"'")
        if kind == "listed":
            # "forward 2." is no second item of a list.
            is_next = said == listed and token["last"] is None
            if before == "action" and not is_next:
                kind = "number"
            else:
                listed = str(int(said) + 1)
        if kind == "action":
            plan += [said] * (pending or 1)
            pending = 0
        elif kind == "number":
            if said == "0" or pending or before == kind:
                return None
            if before == "action":
                plan += [plan[-1]] * (int(said) - 1)
            else:
                pending = int(said)
        elif pending and kind != "empty":
            return None
        before = before if kind == "empty" else kind
    # A count without its action is no plan.
    return tuple(plan) if plan and not pending and len(plan) <= MOST else None
