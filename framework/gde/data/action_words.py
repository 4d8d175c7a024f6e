"""Everyday words for the directions of a map and the verbs of commands."""

import re

DIRECTIONS = {
    "up": "north northward upward upwards oben hoch norden haut arriba acima cima alto su \u2191 \u2b06 上 北"
    " вверх 위 위로",
    "down": "south southward downward downwards unten runter süden bas abajo baixo basso giù \u2193 \u2b07 下"
    " 南 вниз 아래 아래로",
    "left": "west westward leftward leftwards links westen gauche izquierda esquerda sinistra \u2190 \u2b05 左 西"
    " влево налево 왼쪽 왼쪽으로",
    "right": "east eastward rightward rightwards rechts osten droite derecha direita destra \u2192 \u27a1 右 东"
    " вправо направо 오른쪽 오른쪽으로",
}
"""Words and signs for the four directions of a map whose north is up."""
DIRECTION_OF = {
    word: name for name, words in DIRECTIONS.items() for word in (name, *words.split())
}
VERB_OF = {
    "walk": "go",
    "head": "go",
    "travel": "go",
    "run": "go",
    "step": "go",
    "shut": "close",
    "grab": "take",
    "get": "take",
    "turn on": "activate",
    "switch on": "activate",
    "turn off": "deactivate",
    "switch off": "deactivate",
    "put": "move",
    "place": "move",
}
"""Verbs that mean the same in the commands of text worlds."""
MOTION = re.compile(
    r"(?:(?:move|go|step|head|walk|travel|ir|nach|vers|a|al|向|往)[ _-]+|[向往])*"
    r"(?:(?:over to|to|the|la|le|l'|das|den|o|ad)[ _-]+)*(.+?)(?:[ _-](?:one|1) (?:cell|step|square))?",
)
CJK = re.compile("[上下左右北南西东]")
SHORT_CJK = re.compile("[\u3040-ヿ一-鿿]{1,12}")
ARTICLE = re.compile(r"\b(?:the|a|an|my|your) ")


def without_motion(name: str) -> str:
    """A name without "move", "go to the" and the like."""
    moved = MOTION.fullmatch(name)
    return moved[1] if moved else name


def common_name(name: str) -> str:
    """A name in the commonest words for its direction or verb, without articles; "in" and
    "on" are one.

    Args:
        name: in small letters, with one blank between words.
    """
    name = ARTICLE.sub("", name)
    signs = CJK.findall(name)
    if len(signs) == 1 and SHORT_CJK.fullmatch(name):
        return DIRECTION_OF[signs[0]]
    if direction := DIRECTION_OF.get(without_motion(name)):
        return direction
    for synonym, verb in VERB_OF.items():
        if name.startswith(f"{synonym} "):
            name = verb + name.removeprefix(synonym)
    return re.sub(r"\b(?:in/on|into|onto|on|to)\b", "in", name)
