"""Pages and figures come from plugins; without them the reason is told."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from gde import GdeError, Measure, Measurement, hookimpl
from gde.comparisons.contest import Contest
from gde.data.figure import Figure
from gde.data.measure import Measures
from gde.errors import MissingExtra, RunFailed
from gde.reporting.pages import figures, no_report, write_page

OFF = "Plugins that are off: pages"
MEANINGS = Measures((Measure(name="by", title="Success"),))
NUMBERS = [
    Measurement(name="by", value=0.5, unit="share", n=5, where={"distance": distance})
    for distance in (1, 2)
]


@pytest.fixture
def found(tmp_path: Path) -> Contest:
    return Contest(folder=tmp_path, runs={}, results={}, differing={})


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Another plugin, in the place of the bundled one."""
    module = ModuleType("other_pages")
    monkeypatch.setitem(sys.modules, "other_pages", module)
    monkeypatch.setenv("GDE_DISABLE_PLUGINS", "pages")
    monkeypatch.setenv("GDE_LOAD_PLUGINS", "other_pages")
    return module


def test_without_the_plugin_every_door_names_it(
    found: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert no_report() == ""
    monkeypatch.setenv("GDE_DISABLE_PLUGINS", "pages")
    page, reason = write_page(found)
    assert page is None
    assert OFF in reason
    assert OFF in no_report()
    with pytest.raises(GdeError, match=OFF):
        figures(NUMBERS, MEANINGS)


def test_another_plugin_may_write_and_draw(found: Contest, other: ModuleType) -> None:
    drawn = [Figure(title="mine", caption="", spec={})]

    @hookimpl
    def gde_write_page(shown: Contest) -> Path:
        return shown.folder / "mine.html"

    @hookimpl
    def gde_draw_numbers(numbers: list[Measurement]) -> list[Figure]:
        return drawn if numbers == NUMBERS else []

    vars(other).update(gde_write_page=gde_write_page, gde_draw_numbers=gde_draw_numbers)
    assert write_page(found) == (found.folder / "mine.html", "")
    assert figures(NUMBERS, MEANINGS) == drawn
    assert figures([], MEANINGS) == []


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_page_that_cannot_be_made_loses_no_result(
    found: Contest, other: ModuleType, is_lost: bool
) -> None:
    @hookimpl
    def gde_write_page(shown: Contest) -> Path:
        if is_lost:
            raise RunFailed("the disk is full")
        raise MissingExtra("it", ["jinja2"], "report")

    vars(other).update(gde_write_page=gde_write_page)
    if is_lost:
        with pytest.raises(RunFailed, match="disk"):
            write_page(found)
    else:
        page, reason = write_page(found)
        assert page is None
        assert reason == "it needs jinja2: pip install 'gde-eval[report]'"
