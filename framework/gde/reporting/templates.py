"""The pages' templates: no link to elsewhere, everything escaped."""

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from gde.reporting.wording import labels_text

HERE = "gde.reporting"


def template(name: str, package: str = HERE) -> Template:
    """A template that stands in a package, by default beside this module."""
    return _templates(package).get_template(name)


@cache
def _templates(package: str) -> Environment:
    """Kept: to compile them takes longer than to fill in most of them."""
    environment = Environment(
        loader=PackageLoader(package, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["labels_text"] = labels_text
    return environment


def source(name: str, package: str = HERE) -> str:
    """A style sheet or a script that stands in a package, by default beside this module."""
    return files(package).joinpath(name).read_text(encoding="utf-8")
