"""What numbers mean is declared by the parts that give them, and the framework knows
none of them by name.
"""

import ast
import re
from collections.abc import Iterator

import pytest
from sources import Source, sources

from gde.request.catalogue import Catalogue, Entry
from gde.request.kinds import KINDS
from gde.request.settings import build
from gde.testing.context import PlainContext
from gde.testing.samples import sample_evidence

CATALOGUE = Catalogue.default()
BUNDLED = [
    entry
    for kind in KINDS
    for entry in CATALOGUE.entries(kind)
    if entry.module.startswith("gde_plugins.")
]
METRICS, PROBES = (
    [entry for entry in CATALOGUE.entries(kind) if entry in BUNDLED]
    for kind in ("metric", "probe")
)
KNOWN_ANYWAY = {
    (
        "gde.cli.eval_command",
        "Agent, e.g. gpt-oss; several with commas.",
    ): "an example in help",
    (
        "gde.cli.reproduce_command",
        "Agent that takes part, e.g. gpt-oss or random.",
    ): "an example in help",
    (
        "gde.cli.reproduce_command",
        "gpt-oss",
    ): "the agent of the published studies, which --agent changes",
    ("gde.studies.reproducing", "gpt-oss"): "the same from Python",
    ("gde.numerics.controls", "shuffled"): "the control, not the grid's agent",
    ("gde.cli.eval_command", "plan"): "a file with a plan",
    ("gde.request.provenance", "plan"): "the same: what was asked for",
    ("gde.reporting.findings", "plan"): "the same, in the provenance of a result",
    ("gde.runs.pipeline", "plan"): "the same, as the run began with it",
    ("gde.store.trust", "plan"): "the same, as the user trusts it",
    ("gde.request.settings", "plan"): "the same, as a file",
    ("gde.reporting.wording", "distance"): "a unit, which is not said behind a number",
    ("gde.data.completion", "length"): "why a completion ended",
    ("gde.data.answer", "length"): "the same",
    ("gde.before.preflight", "length"): "the same",
    ("gde.runs.frames", "success"): "a column of a frame: what a step says of itself",
    ("gde.runs.frames", "optimal"): "a column of a frame",
    (
        "gde.store.rows",
        "success",
    ): "a column of the journal: what a step says of itself",
    ("gde.store.rows", "optimal"): "a column of the journal",
    ("gde.stages.fits", "shuffled"): "a control of probes",
    ("gde.stages.probing", "shuffled"): "a control of probes",
    ("gde.data.probe", "shuffled"): "a control of probes",
    ("gde.reporting.wording", "shuffled"): "a control of probes",
    ("gde.runs.plain", "success"): "a field of a turn: what a step says of itself",
    ("gde.runs.plain", "optimal"): "a field of a turn",
    ("gde.runs.exporting", "success"): "the same of a conversation",
    ("gde.runs.examining", "length"): "a field of the kit's corridor",
}
"""(module, text) of the framework's own words that a plugin uses too, and of what a
user must be shown by example.
"""


def plugin_names() -> Iterator[str]:
    """Of all bundled offers, and of all that they measure, up to a `*`."""
    for entry in BUNDLED:
        yield entry.offer.name
        for measure in getattr(entry.offer, "measures", ()):
            yield measure.name.partition("*")[0].strip(".")


def literals(source: Source) -> Iterator[str]:
    """The texts of a module, docstrings apart."""
    bodies = (getattr(node, "body", None) for node in ast.walk(source.tree))
    told = {
        id(line.value)
        for body in bodies
        if isinstance(body, list)
        for line in body
        if isinstance(line, ast.Expr)
    }
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in told
        ):
            yield node.value


def test_the_framework_knows_no_plugin_by_name() -> None:
    names = {*plugin_names()}
    joined = {name for name in names if "." in name or "-" in name}
    found = {
        (module, text)
        for module, source in sources().items()
        if module.startswith("gde.") and not module.startswith("gde.testing")
        for text in literals(source)
        if text in names or any(name in text for name in joined)
    }
    assert found - KNOWN_ANYWAY.keys() == set()


def test_every_metric_and_probe_says_what_its_numbers_mean() -> None:
    offenders = []
    for entry in [*METRICS, *PROBES]:
        measures = entry.offer.measures
        if not measures or not all(
            measure.title and (measure.group or entry in PROBES) for measure in measures
        ):
            offenders.append(entry.offer.name)
    assert not offenders


@pytest.mark.parametrize("entry", METRICS, ids=lambda entry: entry.offer.name)
def test_a_metrics_numbers_are_declared_and_their_units_said_once(entry: Entry) -> None:
    metric = entry.offer.made(
        build(entry.offer.config, {}, entry.offer.name), PlainContext()
    )
    for one in metric(sample_evidence()):
        fitting = [
            measure for measure in entry.offer.measures if measure.matches(one.name)
        ]
        assert fitting, f"{one.name} is declared by no measure"
        assert not (one.unit and any(measure.unit for measure in fitting))


def test_names_in_the_sources_of_metrics_are_declared() -> None:
    """Of metrics that have nothing to say of a corridor, such as those of keys and
    fog.
    """
    declared = [measure for entry in METRICS for measure in entry.offer.measures]
    families = {
        measure.name.partition(".")[0]
        for measure in declared
        if "*" not in measure.name
    }
    names = re.compile(rf"({'|'.join(families)})(\.[a-z_0-9]+)+")
    declared += [
        measure for entry in PROBES for measure in entry.offer.measures
    ]  # of the same modules
    for module in {entry.module.rpartition(".")[0] for entry in METRICS}:
        for name, source in sources().items():
            for text in literals(source) if name.startswith(f"{module}.") else ():
                if names.fullmatch(text):
                    assert any(measure.matches(text) for measure in declared), (
                        f"{name}: {text} is declared nowhere"
                    )
