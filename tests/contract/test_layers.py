"""Folders are the layers: a folder of the framework imports only from itself and from
those before it.
"""

from functools import cache
from graphlib import TopologicalSorter

from sources import ROOT, module_of, sources

ORDER = (
    "data",
    "parts",
    "numerics",
    "request",
    "store",
    "stages",
    "before",
    "runs",
    "studies",
    "comparisons",
    "executors",
    "reporting",
    "testing",
    "cli",
)
"""From what everything stands on to what stands on everything."""
GROUND = -1
"""The modules beside the folders, which a plugin author meets first: they stand on
nothing but each other.
"""
FOR_PLUGINS = {
    "data",
    "parts",
    "numerics",
    "executors",
    "reporting",
    "testing",
}
"""Not the stages or the command line: those call plugins."""
AROUND_RUNS = (
    "exchange",
    "executors",
    "gymnasium",
    "human",
    "pages",
    "profile",
    "verifiers",
    "viewer",
)
"""Plugins that are a part of the program around runs, as the command line is."""
SHOW_PAGES = ("exchange", "viewer")
"""Plugins that show the pages of another, `pages`, in a site or a browser."""
ASKED_BY_NAME = {"gde.request.catalogue", "gde.request.settings"}
"""How a plugin makes a part of another: by name, with settings."""
DOORS = {"gde", "gde.__main__"}
"""They list names of all layers, and importing them is importing nothing."""


def floor(module: str) -> int:
    folder = module.split(".")[1]
    return ORDER.index(folder) if folder in ORDER else GROUND


@cache
def reached_by(name: str, lazy: bool = True) -> set[str]:
    """The project's modules that a module imports, doors left out."""
    found = {module_of(imported) for imported in sources()[name].imports(lazy)}
    return {each for each in found if each is not None} - DOORS


def modules(prefix: str) -> list[str]:
    """The modules under a prefix, doors left out."""
    found = [
        name for name in sources() if name.startswith(prefix) and name not in DOORS
    ]
    assert found, f"no module starts with {prefix}"
    return found


def test_modules_that_are_named_to_a_function_are_seen() -> None:
    assert "gde.cli.eval_command" in reached_by("gde.cli.main")
    assert "gde_plugins.meg.solvers.known" in reached_by("gde_plugins.meg")


def test_every_folder_has_its_place() -> None:
    folders = {
        path.name
        for path in (ROOT / "framework" / "gde").iterdir()
        if (path / "__init__.py").is_file()
    }
    assert folders == set(ORDER)


def test_modules_import_from_their_own_folder_or_from_those_before() -> None:
    offenders = []
    for module in modules("gde."):
        # The hooks name the types of all parts, for type checkers alone.
        for reached in reached_by(module, lazy=floor(module) != GROUND):
            if not reached.startswith("gde."):
                offenders.append(f"{module} imports the plugin {reached}")
            elif floor(reached) > floor(module):
                offenders.append(f"{module} imports {reached}, which stands on it")
    assert not offenders


def test_stages_do_not_know_the_bundled_executors_and_reporters() -> None:
    for name in (
        name
        for name in sources()
        if name.startswith(("gde.executors", "gde.reporting"))
    ):
        users = [
            each
            for each in sources()
            if each.startswith("gde.") and name in reached_by(each)
        ]
        assert all(floor(user) >= ORDER.index("executors") for user in users), name


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions count: a circle that is opened by importing late is
    still one.
    """
    graph = {
        name: reached_by(name) - {name} for name in sources() if floor_is_known(name)
    }
    for package in [
        name for name in graph if sources()[name].path.name == "__init__.py"
    ]:
        graph[package] = set()  # a door lists what lies behind it
    TopologicalSorter(graph).prepare()


def floor_is_known(name: str) -> bool:
    return name not in DOORS and name != "gde.hookspecs"


def test_plugins_never_import_each_other() -> None:
    offenders = []
    for module in modules("gde_plugins."):
        own = ".".join(module.split(".")[:2])
        plugins = [
            reached
            for reached in reached_by(module)
            if reached.startswith("gde_plugins")
        ]
        allowed = [own]
        if module.split(".")[1] in SHOW_PAGES:
            allowed.append("gde_plugins.pages")
        others = [
            reached
            for reached in plugins
            if ".".join(reached.split(".")[:2]) not in allowed
        ]
        offenders += [
            f"{module} imports {reached} of another plugin" for reached in others
        ]
    assert not offenders


def test_plugins_stand_on_what_everyone_can_use() -> None:
    offenders = []
    for module in modules("gde_plugins."):
        if module.split(".")[1] in AROUND_RUNS:
            continue
        for reached in reached_by(module):
            open_to_all = (
                not reached.startswith("gde.")
                or floor(reached) == GROUND
                or reached in ASKED_BY_NAME
            )
            if not open_to_all and reached.split(".")[1] not in FOR_PLUGINS:
                offenders.append(f"{module} imports {reached}")
    assert not offenders


def test_tests_mirror_what_they_test() -> None:
    """A folder of tests has the name and the place of a folder of sources; only what
    concerns all stands beside.
    """
    tests = ROOT / "tests"
    assert not list(tests.glob("test_*.py"))
    assert {
        path.name
        for path in tests.iterdir()
        if path.is_dir() and path.name != "__pycache__"
    } == {
        "benchmarks",
        "contract",
        "examples",
        "framework",
        "main_job",
        "plugins",
    }
    for mirrored, original in (
        ("framework", ROOT / "framework" / "gde"),
        ("plugins", ROOT / "plugins/gde_plugins"),
    ):
        for folder in (tests / mirrored).iterdir():
            if folder.is_dir() and folder.name != "__pycache__":
                assert (original / folder.name).is_dir(), f"{folder} mirrors nothing"
