"""Splits reasoning from the answer in a text that holds both."""

import json
import re
from dataclasses import dataclass

from gde.data.tool_call import ToolCall, with_calls

TAGS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
)
"""Around reasoning: of DeepSeek and Qwen, of prompts, Seed-OSS, Magistral, Kimi and
Command A.
"""
FLATTENED = re.compile(
    r"analysis(?P<thought>.*?)assistant(?:final(?P<text>.*)"
    r"|commentary to=(?:functions\.)?(?P<name>[\w.-]+?) ?(?:json)?(?P<call>\{.*))"
    r"|(?:assistant)?final(?P<alone>\{.*)|analysis(?P<cut>[A-Z].*)",
    re.DOTALL,
)
"""Matches a gpt-oss answer without special tokens, as `transformers serve` gives.

The names of the channels run into their texts. Without reasoning, only JSON after
"final" is taken for such an answer, and without an answer only a capital letter after
"analysis" for its beginning: any other text may just begin with these words.
"""
HARMONY = re.compile(
    r"(?:<\|start\|>(?P<role>[^<]*))?<\|channel\|>(?P<channel>\w*)(?P<header>[^<]*)"
    r"(?:<\|constrain\|>[^<]*)?<\|message\|>(?P<body>.*?)"
    r"(?:(?P<end><\|(?:end|return|call)\|>)|(?=<\|(?:start|channel)\|>)|\Z)",
    re.DOTALL,
)
"""Matches a message of gpt-oss with the special tokens as text."""
OPENED = re.compile(r"(?:analysis|commentary|final)\b[^<]*<\|")
"""The beginning of an answer whose first tag is in the prompt."""
RECIPIENT = re.compile(r"\bto=(?:functions\.)?(?P<name>[\w.-]+)")


@dataclass(frozen=True, kw_only=True)
class Halves:
    """A text in two."""

    text: str
    """The answer; empty if the model never reached it."""
    reasoning: str | None = None
    cut: bool = False
    """Whether the reasoning has a beginning but no end."""


def split_reasoning(text: str) -> Halves:
    """Split a text by the convention that it shows; one without any is all answer."""
    if "<|message|>" in text:
        return _of_channels(text)
    flattened = FLATTENED.fullmatch(text)
    if flattened is None:
        return _of_tags(text)
    if flattened["cut"] is not None:
        return Halves(text="", reasoning=flattened["cut"], cut=True)
    answer = flattened["alone"] or flattened["text"]
    if flattened["call"]:
        answer = with_calls("", [_call(flattened["name"], flattened["call"])])
    return Halves(text=answer, reasoning=flattened["thought"])


def _of_channels(text: str) -> Halves:
    if OPENED.match(text):
        text = f"<|channel|>{text}"
    thoughts = []
    answers = []
    calls = []
    messages = [*HARMONY.finditer(text)]
    for message in messages:
        # The recipient of a call stands in either of two places.
        recipient = RECIPIENT.search(f"{message['role']} {message['header']}")
        if recipient:
            calls.append(_call(recipient["name"], message["body"]))
        elif message["channel"] == "final":
            answers.append(message["body"])
        else:
            thoughts.append(message["body"])

    # Else the tags are those of something else.
    if not messages:
        return Halves(text=text)
    last = messages[-1]
    has_end = last["end"] is not None or last.end() < len(text)
    return Halves(
        text=with_calls("\n".join(answers).strip(), calls),
        reasoning="\n".join(thoughts) if thoughts else None,
        cut=not (answers or calls or has_end),
    )


def _call(name: str, body: str) -> ToolCall:
    try:
        return ToolCall(name=name, arguments=json.loads(body))
    except (ValueError, RecursionError):
        return ToolCall(name=name, arguments=body)


def _of_tags(text: str) -> Halves:
    for opening, closing in TAGS:
        if opening not in text and closing not in text:
            continue
        thoughts = []
        block = re.compile(f"{re.escape(opening)}(.*?){re.escape(closing)}", re.DOTALL)
        thoughts += [found.strip() for found in block.findall(text)]
        rest = block.sub("", text)

        # The template may have opened the tag already.
        before, close, after = rest.rpartition(closing)
        if close:
            thoughts.insert(0, before.replace(closing, "").strip())
            rest = after
        # A tag in the middle of an answer may just be spoken of.
        cut = rest.lstrip().startswith(opening)
        if cut:
            thoughts.append(rest.lstrip().removeprefix(opening).strip())
            rest = ""
        if thoughts:
            return Halves(text=rest.strip(), reasoning="\n".join(thoughts), cut=cut)
    return Halves(text=text)
