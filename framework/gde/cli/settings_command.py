"""gde settings: show how this user's runs are done."""

from gde.cli import options
from gde.cli.output import say, show_json, tell


def command(as_json: options.Json = False) -> None:
    """Show how your runs are done where a command does not say it.

    These are your settings. Edit the file to change them.
    """
    import tomli_w

    from gde.request.howfile import TRUSTED, how_tables, read_settings, settings_file

    path = settings_file()
    found = read_settings()
    tables = how_tables(found.how)
    tables[TRUSTED] = [str(folder) for folder in found.trusted_folders]
    if as_json:
        show_json({"file": str(path), "settings": tables})
        return
    tell(tomli_w.dumps(tables), end=False)
    say(f"file: {path}" if path.is_file() else f"defaults: {path} is not there")
