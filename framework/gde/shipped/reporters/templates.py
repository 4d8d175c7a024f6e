"""The pages' templates: no link to elsewhere, everything escaped."""

from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from gde.shipped.reporters.wording import labels_text


def template(name: str) -> Template:
    """A template that stands beside this module."""
    environment = Environment(
        loader=PackageLoader("gde.shipped.reporters", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["labels_text"] = labels_text
    return environment.get_template(name)


def source(name: str) -> str:
    """A style sheet or a script that stands beside this module."""
    return files("gde.shipped.reporters").joinpath(name).read_text(encoding="utf-8")
