"""LaTeX in an answer: its contents as plain text."""

import re

BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{([^{}]*)\}")
STYLED = re.compile(r"\\(?:text\w*|math\w+|mbox|operatorname)\s*\{([^{}]*)\}")
SIGNS = {
    "times": "\u00d7",
    "to": "\u2192",
    "rightarrow": "\u2192",
    "leftarrow": "\u2190",
    "uparrow": "\u2191",
    "downarrow": "\u2193",
    "approx": "\u2248",
    "cdot": "\u00d7",
    "quad": " ",
    "qquad": " ",
}
SIGN = re.compile(rf"\\({'|'.join(SIGNS)})(?![A-Za-z])")
FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
SIZED = re.compile(r"\\(?:left|right|[bB]ig+[lr]?)(?=\s*[\\()\[\]{}|.])")
SPACED = re.compile(r"\\[,;:! ]")
DELIMITED = re.compile(r"\\[()\[\]]|\$")
INNERMOST = 8
"""Commands within one another that are looked through."""


def without_latex(text: str) -> str:
    """The text without commands; what stands in a box is a line of its own."""
    if "\\" in text:
        for pattern, inside in ((STYLED, r"\1"), (BOXED, r"\n\1\n")):
            for _ in range(INNERMOST):
                text, n = pattern.subn(inside, text)
                if not n:
                    break
        text = FRACTION.sub(r"\1/\2", text)
        text = SIZED.sub("", SIGN.sub(lambda found: SIGNS[found[1]], text))
        text = SPACED.sub(" ", text)
    return DELIMITED.sub("", text)
