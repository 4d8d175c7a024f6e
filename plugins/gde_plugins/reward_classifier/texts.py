"""An episode as one text (Shen et al. 2026, appendix C.2.1)."""

from gde.data.transcript import Transcript

NOTHING = "None"
RULER = "\n---\n"


def beginnings(transcript: Transcript) -> list[str]:
    """The text of the episode up to every step; empty where the world has no
    objective.
    """
    goal = transcript.objective
    if not goal:
        return []
    texts: list[str] = []
    text = f"<GOAL> {goal} </GOAL>{RULER}"
    for step in transcript.steps:
        if texts:
            text += "\n"
        text += f"<ACTION> {step.action or NOTHING} </ACTION>\n<STATE> {step.observation} </STATE>"
        texts.append(text)
    return texts
