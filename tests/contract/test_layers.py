"""Who may import whom. A module imports from its own layer and from those above it in the table, never from below."""

from graphlib import TopologicalSorter

import pytest
from sources import module_of, sources

LAYERS = {
    "data": ("gde.data",),
    "ground": ("gde.errors", "gde.seeding"),
    "parts": ("gde.parts",),
    "hooks": ("gde.offers", "gde.hookspecs", "gde.config"),
    "numerics": ("gde.stats", "gde.tabular", "gde.worldwise"),
    "request": (
        "gde.plugins",
        "gde.catalogue",
        "gde.planfile",
        "gde.resolve",
        "gde.check",
        "gde.provenance",
    ),
    "storage": ("gde.store",),
    "stages": (
        "gde.memory",
        "gde.watching",
        "gde.rollout",
        "gde.recording",
        "gde.probing",
        "gde.rewarding",
        "gde.scoring",
        "gde.gathering",
    ),
    "shipped parts": ("gde.executors", "gde.reporters", "gde.builtin", "gde.gym"),
    "evaluation": ("gde.evaluating", "gde.comparing", "gde.export", "gde.reproducing"),
    "contract kit": ("gde.testing",),
    "command line": ("gde.cli", "gde.__main__"),
}
ORDER = [*LAYERS]
PACKAGES = {"gde"}
"""The door of the package: it lists names of all layers, and importing it is importing nothing."""


def layer_of(module: str) -> str:
    homes = [
        (home, layer)
        for layer, members in LAYERS.items()
        for home in members
        if module == home or module.startswith(f"{home}.")
    ]
    assert homes, f"{module} is in no layer: name it in LAYERS"
    return max(homes, key=lambda found: len(found[0]))[1]


def test_every_module_of_the_table_exists() -> None:
    named = {module for members in LAYERS.values() for module in members}
    assert named <= set(sources())


@pytest.mark.parametrize("module", [name for name in sources() if name.startswith("gde.")])
def test_a_module_imports_from_its_own_layer_or_above(module: str) -> None:
    own = ORDER.index(layer_of(module))
    for imported in sources()[module].imports():
        reached = module_of(imported)
        if reached is not None and reached not in PACKAGES:
            assert reached.startswith("gde."), f"{module} imports the plugin {reached}"
            assert ORDER.index(layer_of(reached)) <= own, (
                f"{module} ({ORDER[own]}) imports {reached}, which is below it"
            )


def test_stages_do_not_know_the_parts_that_are_shipped() -> None:
    for name, source in sources().items():
        if name.startswith("gde.") and layer_of(name) in {"storage", "stages", "evaluation"}:
            reached = {module_of(imported) for imported in source.imports()}
            assert not any(each and layer_of(each) == "shipped parts" for each in reached - PACKAGES), name


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {
        name: {reached for imported in source.imports(lazy=False) if (reached := module_of(imported))} - {name}
        for name, source in sources().items()
    }
    for package in [name for name in graph if sources()[name].path.name == "__init__.py"]:
        graph[package] = set()  # a door lists what lies behind it
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("module", [name for name in sources() if name.startswith("gde_plugins.")])
def test_a_plugin_never_imports_another(module: str) -> None:
    own = ".".join(module.split(".")[:2])
    for imported in sources()[module].imports():
        reached = module_of(imported)
        if reached is not None and reached.startswith("gde_plugins"):
            assert reached == own or reached.startswith(f"{own}."), f"{module} imports {reached} of another plugin"


@pytest.mark.parametrize("module", [name for name in sources() if name.startswith("gde_plugins.")])
def test_a_plugin_stands_on_what_everyone_can_use(module: str) -> None:
    """Not on the stages or the command line: those call plugins. The catalogue is how one asks for another by name."""
    allowed = {"data", "ground", "parts", "hooks", "numerics", "shipped parts", "contract kit"}
    for imported in sources()[module].imports():
        reached = module_of(imported)
        if reached is not None and reached.startswith("gde.") and reached != "gde.catalogue":
            assert layer_of(reached) in allowed, f"{module} imports {reached} ({layer_of(reached)})"
