"""The templates, styles and scripts of self-contained, escaped pages."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template

from gde.reporting.wording import labels_text

HERE = "gde_plugins.pages"


def template(name: str, package: str = HERE) -> Template:
    """A template in a package, by default in this one."""
    return _templates(package).get_template(name)


def rendered(
    name: str,
    script: str = "",
    package: str = HERE,
    reach: str = "'none'",
    **values: object,
) -> str:
    """A page with the common style sheet and a policy that allows nothing else.

    Args:
        name: of its template.
        script: its only script.
        package: where the template is.
        reach: what the page may connect to: nothing, or "'self'", its own server.
        values: what the template shows.
    """
    style = source("style.css")
    # The Content-Security-Policy of a page: its style and script, by their hashes.
    rules = [
        "default-src 'none'",
        "base-uri 'none'",
        f"form-action {reach}",
        f"connect-src {reach}",
        f"style-src {_hash(style)}",
        f"script-src {_hash(script)}",
    ]
    policy = "; ".join(rules)
    return template(name, package).render(
        style=style, script=script, policy=policy, **values
    )


# Compiling the templates takes longer than filling most of them in.
@cache
def _templates(package: str) -> Environment:
    # Templates of other packages share the parts of those here.
    loaders = [PackageLoader(each, "") for each in dict.fromkeys((package, HERE))]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["labels_text"] = labels_text
    return environment


def source(name: str, package: str = HERE) -> str:
    """The text of a style sheet or a script in a package, by default in this one."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = sha256(text.encode()).digest()
    encoded = b64encode(digest).decode()
    return f"'sha256-{encoded}'"
