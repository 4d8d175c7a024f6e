"""Episodes of texts."""

from collections.abc import Callable

import pytest

from gde.data.transcript import Step, Transcript


@pytest.fixture
def episode() -> Callable[..., Transcript]:
    """Makes an episode that asks for something and in which these texts are seen."""

    def made(objective: object, *seen: str) -> Transcript:
        words = objective if isinstance(objective, str) else ""
        steps = [Step("RIGHT" if i else "", text) for i, text in enumerate(seen)]
        return Transcript(objective=words, steps=tuple(steps))

    return made
