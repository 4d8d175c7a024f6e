"""A result in a notebook: finding and headlines as HTML."""

from collections.abc import Sequence
from html import escape

from gde.data.result import Result
from gde.reporting.finding import opening
from gde.reporting.forest import forest

HEADING = ("", "value", "95 %", "strongest control", "verdict")


class Html(str):
    """HTML that a notebook shows as such."""

    def _repr_html_(self) -> str:
        return self


def summary(result: Result) -> Html:
    """Show subject, finding, limits and the headlines; all text is escaped."""
    found = opening(result)
    texts = [f"<small>{escape(found.subject)}</small>", escape(found.finding)]
    texts.append(escape(found.limited))
    parts = [f"<p>{'<br>'.join(filter(None, texts))}</p>"]

    rows = [_row("th", HEADING)]
    for group in forest(result):
        rows.append(_row("th", [group.title]))
        for one in group.rows:
            verdict = f"{one.mark} {one.word}"
            cells = (one.title, one.value, one.interval, one.control, verdict)
            rows.append(_row("td", cells))
    if rows[1:]:
        parts.append(f"<table>{''.join(rows)}</table>")

    small = [*found.notes, f"{result.status}: {result.run}"]
    notice = str(result.provenance.get("notice") or "")
    if notice:
        small.insert(0, notice)
    parts += [f"<p><small>{escape(text)}</small></p>" for text in small]
    return Html("".join(parts))


def _row(tag: str, texts: Sequence[str]) -> str:
    cells = [f"<{tag}>{escape(text)}</{tag}>" for text in texts]
    return f"<tr>{''.join(cells)}</tr>"
