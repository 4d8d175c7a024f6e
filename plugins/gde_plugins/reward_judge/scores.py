"""Reading a score from what a judge said, or else why there is none. Nothing is guessed
or clipped.

A score stands alone on a line: "score: 0.4", with or without "/ 1", quotes or emphasis.
A number that is the whole answer is one, and so is the value of "score" in a JSON
object of one line. Of several the last counts: what a judge quotes from the episode,
instructions to it included, comes before what it concludes. An answer that was cut off
has concluded nothing.
"""

import re

from gde.data.completion import Completion

NUMBER = r"(?P<score>0(?:\.\d{1,12})?|1(?:\.0{1,12})?|\.\d{1,12})"
EMPHASIS = r"[\s*_`\"']*"
LINE = re.compile(
    rf"[>#\-]*{EMPHASIS}(?:final\s+)?(?:score|reward){EMPHASIS}[:=]{EMPHASIS}{NUMBER}(?:\s*/\s*1(?:\.0)?)?"
    rf"{EMPHASIS}(?P<end>\.?){EMPHASIS}",
    re.IGNORECASE,
)
IN_JSON = re.compile(rf"\s*\{{[^{{}}]*\"score\"\s*:\s*{NUMBER}\s*\}}\s*")
ALONE = re.compile(rf"\s*{NUMBER}\s*")
BELIEF = re.compile(r"^\s*belief\s*:", re.IGNORECASE | re.MULTILINE)
LONGEST_LINE = 400
"""A line with more characters is no score."""
LONGEST_BELIEF = 4000
SHOWN = 80


class NoScore(ValueError):
    """An answer without a score; says what was wanted and what came."""


def parse_score(completion: Completion) -> float:
    """The score of an answer, 0 to 1.

    Raises:
        NoScore: it has none.
    """
    if completion.finish != "stop":
        raise NoScore(
            "the answer was cut off"
            if completion.finish == "length"
            else "the model refused"
        )
    text = completion.text
    if len(text) <= LONGEST_LINE and (alone := ALONE.fullmatch(text)):
        return float(alone["score"])
    for line in reversed(text.splitlines()):
        if found := _on(line):
            return float(found["score"])
    raise NoScore(
        f'wanted a line "score: NUMBER" with a number from 0 to 1, got {_shown(text)}'
    )


def parse_belief(text: str) -> str:
    """The text between the last "belief:" and the score after it; empty where there is
    none.
    """
    begins = [each.end() for each in BELIEF.finditer(text)]
    if not begins:
        return ""
    lines = text[begins[-1] :].splitlines()
    end = max(
        (place for place, line in enumerate(lines) if _on(line)), default=len(lines)
    )
    # JSON and servers can spell halves of characters, which no tokenizer takes.
    return (
        "\n".join(lines[:end])
        .strip()[:LONGEST_BELIEF]
        .encode("utf-8", "replace")
        .decode()
    )


def _on(line: str) -> re.Match[str] | None:
    if len(line) > LONGEST_LINE:
        return None
    found = LINE.fullmatch(line)
    # "0." may be the end of a sentence, or of an answer.
    if found and not (found["end"] and "." not in found["score"]):
        return found
    return IN_JSON.fullmatch(line)


def _shown(text: str) -> str:
    return (
        repr(text)
        if len(text) <= SHOWN
        else f"{text[:SHOWN]!r}... ({len(text)} characters)"
    )
