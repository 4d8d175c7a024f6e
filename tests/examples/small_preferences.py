"""Preferences that a tiny classifier learns in seconds."""

from reward_classifier_training.preferences import Preference

QUICK = {
    "learning_rate": 0.01,
    "batch_size": 10,
    "epochs": 5,
    "max_length": 64,
    "held_out": 0.25,
}


def text(n_done: int) -> str:
    steps = "\n".join(
        f"<ACTION> do </ACTION>\n<STATE> block {'placed' if i < n_done else 'lies'} </STATE>"
        for i in range(3)
    )
    return f"<GOAL> place the blocks </GOAL>\n---\n{steps}"


PREFERENCES = [
    Preference(text(more), text(less), "blocksworld", f"task-{task}")
    for task in range(8)
    for more in range(4)
    for less in range(more)
]


def ignore(*_: object) -> None:
    """Progress is not shown."""
