"""What an answer says, without the marks that servers, Markdown and LaTeX put around it.

Reading an answer is finding its conclusion in this text (`gde.data.answer_parts`), and
taking that for what the task asks, word by word.
"""

import re
from html import unescape
from unicodedata import normalize

from gde.data.answer_parts import standing
from gde.data.latex import without_latex

ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        # Characters without a width.
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0f"),
    }
)
"""Quotes and dashes of typography to those of keyboards."""
PUNCTUATION = str.maketrans("\u3001\u3002\u3010\u3011\u2044\u20e3", ",.[]/.")
"""Of Chinese and Japanese, the stroke of a fraction, and the key around a digit."""
BEGIN = re.compile(
    r"\s*(?:<\|(?:im_start|start_header_id)\|>\s*assistant\s*(?:<\|end_header_id\|>)?"
    r"|<s>|\[/INST\]|<start_of_turn>model\b)\s*"
)
END = re.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|start_header_id|return|end|endoftext|end_of_text)\|>"
    r"|</s>|<(?:end|start)_of_turn>"
)
"""A token of a chat's format that ends an answer: what follows is another's turn."""
TOKEN = re.compile(r"<\|[^|<>\n]{1,40}\|>|\[/?INST\]")
THOUGHT = re.compile(
    r"<(think|thinking|thought|thoughts|reasoning|scratchpad|analysis)>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
STRUCK = re.compile(r"~~[^~\n]+~~|<(del|s|strike)>.*?</\1>", re.IGNORECASE)
SCRAPPED = re.compile(
    r"\b(?:that(?:['\u2019]s| is| was) (?:wrong|incorrect|not (?:right|correct)|a mistake)|scratch that"
    r"|no,? (?:actually|sorry|wait))\b[ ,.!:;]*"
    r"(?![^\"\n]{0,200}\"\s*[,}\n])",
    re.IGNORECASE,
)
"""Words, but in a text of JSON, by which all before them is taken back."""
TICKED = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?(?:\[[xX]\]|[\u2705\u2714\u2611])[ \t\ufe0f]*", re.MULTILINE
)
UNTICKED = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?(?:\[ ?\]|[\u274c\u2717\u2718\u2610])[^\n]*\n?",
    re.MULTILINE,
)
EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27a0\u27a2-\u27bf]\ufe0f?")
ROMAN = re.compile(r"^[ \t]*[IVX]{1,5}[.)][ \t]+", re.MULTILINE)
FIELD = re.compile(
    r"(?:\n[ \t]*)?<(/?)((?:final_?)?(?:answer|actions?|move|command|decision|choice|result|output|response"
    r"|plan|score|rating|reward|state|subgoals?|steps?|sequence|position|direction))>",
    re.IGNORECASE,
)
"""A tag around a field."""
REGARDS = re.compile(
    r"\n[ \t]*(?:(?:best|kind|warm|many)[ \t]+)?"
    r"(?:regards|wishes|sincerely|yours|cheers|good luck|thanks|thank you)\b[^\n]*(?:\n[^\n]*){0,3}\Z"
    r"|\n[ \t]*(?:let me know|please let me|feel free|i hope this|hope this)\b[^\n]*\s*\Z",
    re.IGNORECASE,
)
"""The end of a letter, or an offer of more."""
OFFER = re.compile(
    r"(?<=[.!?*])[ \t]+(?:would you like|do you want|shall i|should i|let me know|feel free|good luck"
    r"|please let me|is there anything|can i)\b[^.!?\n]*[.!?]*\s*\Z",
    re.IGNORECASE,
)
PLEASANTRY = re.compile(
    r"\A\s*(?:sure|of course|certainly|absolutely|happy to help|great|okay|ok)\b[^.!?:{}\n]{0,40}[!.][ \t]+",
    re.IGNORECASE,
)
LAST_HEADING = re.compile(r"^[ \t]*####[ \t]+(?=[^\n]+\s*\Z)", re.MULTILINE)
"""Before the answer, as in GSM8K."""
NOTE = re.compile(r"<!--.*?-->", re.DOTALL)
FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.MULTILINE)
HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+([^\n]*?)[ \t*:]*|\*\*([A-Za-z' ]+?)[ :]*\*\*[ :]*)$",
    re.MULTILINE,
)
"""A line that is a heading, or nothing but words in bold type."""
QUOTE = re.compile(r"^[ \t]*(?:>[ \t]*)+", re.MULTILINE)
EMPHASIS = re.compile(r"\*{2,}|`+|(?<!\w)__|__(?!\w)")
ONE_STAR = re.compile(r"(?<![\w*])([*_])(?=[^\s*_])([^*_\n]*[^\s*_])\1(?![\w*])")
BREAK = re.compile(
    r"</?(?:br|p|div|li|ul|ol|pre|tr|table)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
CELL = re.compile(r"</t[dh]>\s*<t[dh](?:\s[^<>]*)?>", re.IGNORECASE)
TAG = re.compile(
    r"</?(?:b|i|em|strong|code|span|u|td|th|tbody|thead)(?:\s[^<>]*)?>", re.IGNORECASE
)
ESCAPED = re.compile(r"\\([<>_*#`~{}&%-])")
LONGEST = 20_000
"""The last characters of an answer that are read."""


def tidy(text: str) -> str:
    """The text with one character for all that look alike (NFKC, quotes, dashes)."""
    return normalize("NFKC", text).translate(ALIKE)


def own_turn(text: str) -> str:
    """The model's turn without the tokens of the chat's format, which a server left in;
    empty where the text holds whole turns of several speakers.
    """
    header = BEGIN.match(text)
    turn, *others = END.split(text[header.end() :] if header else text)
    if header and any(each.strip() for each in others):
        return ""
    return TOKEN.sub("", turn)


def own(text: str) -> str:
    """The model's turn without thoughts, good wishes, and what it took back or left
    unticked.
    """
    turn = REGARDS.sub("", STRUCK.sub("", THOUGHT.sub("", own_turn(text))))
    turn = SCRAPPED.split(turn)[-1]
    turn = OFFER.sub("", PLEASANTRY.sub("", turn))
    # Of ticked and unticked lines, the ticked ones are meant.
    if TICKED.search(turn):
        turn = TICKED.sub("", UNTICKED.sub("", turn))
    return turn


def plain(text: str) -> str:
    """The text without Markdown, HTML, LaTeX and thoughts between tags.

    What stands in a box of LaTeX is a line of its own, and a heading ends with a colon.
    """
    text = own(text).rpartition("</think>")[2][-LONGEST:]
    text = without_latex(unescape(text))
    text = TAG.sub("", BREAK.sub("\n", CELL.sub(" | ", NOTE.sub("", text))))
    text = FIELD.sub(lambda found: "\n" if found[1] else f"\n{found[2]}: ", text)
    text = EMOJI.sub("", ROMAN.sub("1. ", text))
    text = LAST_HEADING.sub("answer: ", text)
    text = HEADING.sub(lambda found: f"{found[1] or found[2]}:", FENCE.sub("", text))
    text = QUOTE.sub("", text)
    text = ONE_STAR.sub(r"\2", EMPHASIS.sub("", text))
    return standing(tidy(ESCAPED.sub(r"\1", text)).translate(PUNCTUATION).strip())
