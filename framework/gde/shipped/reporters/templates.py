"""The pages' templates: no script, no link to elsewhere, everything escaped."""

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def template(name: str) -> Template:
    """A template that stands beside this module."""
    environment = Environment(
        loader=PackageLoader("gde.shipped.reporters", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
