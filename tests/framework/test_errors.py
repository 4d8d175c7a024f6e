"""An interrupt that other code has made another exception of is still one."""

from pathlib import Path

import pytest

from gde import How, Plan, evaluate, resume
from gde.errors import GdeError, is_interruption
from gde.request.catalogue import Catalogue, load_plugins


class Interrupting:
    """A descriptor whose owner cannot be made: the signal comes first."""

    def __set_name__(self, owner: type, name: str) -> None:
        raise KeyboardInterrupt


def made_of_one(*_: object) -> object:
    """As an import that a signal interrupts: Python 3.11 gives a RuntimeError."""
    return type("Half", (), {"field": Interrupting()})


def explained() -> None:
    try:
        made_of_one()
    except BaseException as error:
        raise GdeError("cannot import it") from error


@pytest.mark.parametrize("raised", [made_of_one, explained])
def test_an_interrupt_is_known_by_its_causes(raised: object) -> None:
    with pytest.raises(BaseException) as found:
        raised()  # type: ignore[operator]
    assert is_interruption(found.value)


def test_other_errors_are_none() -> None:
    with pytest.raises(ValueError, match="one") as found:
        raise ValueError("one") from KeyError("another")
    assert not is_interruption(found.value)
    assert not is_interruption(ExceptionGroup("two", [found.value]))


def test_it_is_no_failure_of_the_metric_that_was_measured(tmp_path: Path) -> None:
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    plan = Plan(environment="corridor", agent="random", metrics=[measure], episodes=2)
    how = How(reporters=())
    with pytest.raises(KeyboardInterrupt):
        evaluate(plan, tmp_path / "run", catalogue, how=how)
    assert resume(tmp_path / "run", catalogue, plan=plan).status == "ok"


class Measure:
    """A metric that imports something on its first evidence."""

    measures: tuple[object, ...] = ()
    asked = 0

    def __call__(self, evidence: object) -> list[object]:
        self.asked += 1
        if self.asked == 1:
            made_of_one()
        return []


measure = Measure()
