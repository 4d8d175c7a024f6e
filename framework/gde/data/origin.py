"""The identity of a task by its content, by which training and test are told apart."""

from hashlib import sha256

from gde.data.transcript import Transcript

DIGITS = 16


def origins(transcript: Transcript) -> frozenset[str]:
    """Digests of the goal with the first observation, and of the goal with the first
    step.

    Episodes that share a digest are of one task, or begin with the same text. Case and
    white space do not count. Without an objective there are no digests.
    """
    if not transcript.objective:
        return frozenset()
    beginnings = [("", transcript.start)] if transcript.start else []
    for step in transcript.steps:
        beginnings.append((step.action, step.observation))
        # A turn without an action shows the start, and the first step is still ahead.
        if step.action:
            break
    return frozenset(
        _digest(transcript.objective, action, observation)
        for action, observation in beginnings
    )


def _digest(*texts: str) -> str:
    plain = [" ".join(text.lower().split()) for text in texts]
    return sha256("\n".join(plain).encode()).hexdigest()[:DIGITS]
