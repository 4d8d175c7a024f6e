"""The pages of the viewer: the list of runs, one run, two runs, a contest.

The viewer answers only GET, only this machine, and writes nothing. The Host header
exposes a foreign page whose name resolves to this machine, and Sec-Fetch-Site a foreign
page that sends requests from a reader's browser.
"""

from collections.abc import Iterable
from contextlib import closing
from functools import lru_cache
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from gde.comparisons.comparison import compare_runs
from gde.comparisons.contest import read_contest
from gde.errors import GdeError
from gde.reporting.asked import days_text, usage_text
from gde.request.catalogue import Catalogue
from gde.store.folder import RESULT, RunFolder
from gde.studies.study import read_study
from gde_plugins.pages.contest_page import contest_page
from gde_plugins.pages.library import group_of, last_changed, library, state
from gde_plugins.pages.run_page import page_of
from gde_plugins.pages.study_page import study_page
from gde_plugins.pages.templates import rendered, source
from gde_plugins.viewer.episodes import COLUMNS, Row, episodes_of, shown

HOSTS = ["127.0.0.1", "localhost"]
TOKEN = "token"
"""The parameter of an address with the token."""
HEADER = "<header>"
BACK = '<p class="kicker"><a href="/">runs</a></p>'
TURNS = 50
"""Turns in one answer to a live page."""
RUNS = 1000
"""Runs whose episodes are kept in memory."""
PAGES = 16
"""Rendered reports kept in memory."""
HEADERS = {
    # Each page adds a policy with the hashes of its own style and script.
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def create_app(
    root: Path, catalogue: Catalogue | None = None, token: str = ""
) -> Starlette:
    """The viewer of the runs in a folder, as an ASGI application.

    Args:
        root: the folder.
        catalogue: the parts that are offered.
        token: what an address must contain once; empty for none.
    """
    pages = Pages(root, catalogue or Catalogue.default())
    routes = [
        Route("/", pages.runs),
        Route("/episodes", pages.episodes),
        Route("/compare", pages.compare),
        Route("/live/{name:path}", pages.live),
        Route("/contest/{name:path}", pages.contest),
        Route("/study/{name:path}", pages.study),
        Route("/run/{name:path}", pages.run),
    ]
    guards = [
        Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False),
        Middleware(OwnPages),
        *([Middleware(WithToken, token=token)] if token else []),
    ]
    return Starlette(
        routes=routes,
        middleware=guards,
        exception_handlers={GdeError: _as_text},
    )


class OwnPages(BaseHTTPMiddleware):
    """Refuse requests from other sites, and add security headers to answers."""

    async def dispatch(
        self, request: Request, call_next: RequestResponseEndpoint
    ) -> Response:
        # Browsers send "none" for an address typed by a reader. Other clients send
        # nothing.
        sent_by = request.headers.get("sec-fetch-site", "none")
        if sent_by not in ("none", "same-origin"):
            return _refusal("Another site sent this request. Type the address instead.")
        answer = await call_next(request)
        answer.headers.update(HEADERS)
        return answer


class WithToken(BaseHTTPMiddleware):
    """Refuse other users of this machine, who do not know the token.

    An address with it gives the browser a cookie for the other pages.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        super().__init__(app)
        self._token = token
        # Cookies do not tell the ports of a machine apart.
        self._cookie = f"gde-{sha256(token.encode()).hexdigest()[:8]}"

    async def dispatch(
        self, request: Request, call_next: RequestResponseEndpoint
    ) -> Response:
        given = request.query_params.get(TOKEN, "")
        known = given or request.cookies.get(self._cookie, "")
        if not compare_digest(known.encode(), self._token.encode()):
            return _refusal(
                "Open the whole address that `gde view --serve` has printed."
            )
        answer = await call_next(request)
        if given:
            answer.set_cookie(self._cookie, given, httponly=True, samesite="strict")
        return answer


def _refusal(advice: str) -> Response:
    return PlainTextResponse(advice, status_code=403)


class Pages:
    """The answers of the viewer.

    Runs are looked up by name among those in the folder, never by a path from a
    request.
    """

    def __init__(self, root: Path, catalogue: Catalogue) -> None:
        self._root = root
        self._catalogue = catalogue
        # A cache of this object, not of the class, so that it goes with the viewer.
        self._report = lru_cache(maxsize=PAGES)(self._rendered)
        self._episodes = lru_cache(maxsize=RUNS)(_episodes_of)

    def runs(self, _: Request) -> Response:
        """The list of runs."""
        states = []
        for name, path in library(self._root).items():
            states.append(state(name, path))
        any_live = any(each.live for each in states)
        return self._page(
            "runs",
            states=states,
            live=any_live,
            days_text=days_text,
            usage_text=usage_text,
        )

    def episodes(self, request: Request) -> Response:
        """The episodes of all runs: those that are asked for, in the order asked for."""
        rows: list[Row] = []
        for name, path in library(self._root).items():
            rows += self._episodes(name, path, last_changed(path))
        return self._page(
            "episodes",
            shown=shown(rows, request.query_params),
            columns=COLUMNS,
            counts=("turns", "tokens"),
        )

    def run(self, request: Request) -> Response:
        """The report of a finished run from its record; a live page for a running one."""
        name = request.path_params["name"]
        path = self._path_of(name)
        result = path / RESULT
        if not result.is_file():
            return self._page("live", state=state(name, path), live=True)

        # A run that was resumed has a newer result, and needs another page.
        return _shown(self._report(path, result.stat().st_mtime_ns))

    def live(self, request: Request) -> Response:
        """The progress of a run and its turns after `after`, as JSON."""
        name = request.path_params["name"]
        path = self._path_of(name)
        after = _number(request.query_params.get("after", "0"))
        folder = RunFolder.open(path)
        with closing(folder.journal()) as journal:
            last = journal.last_turn()
            # A page that opens late gets the latest turns, not all of them.
            first = max(after, last - TURNS)
            _, turns = journal.turns_since(first)
            within = journal.under_way()

        rows = []
        for episode, turn in turns:
            decision = turn.decision.action or f"none, {turn.decision.status}"
            row = {
                "episode": episode,
                "turn": turn.index + 1,
                "decision": decision,
                "best": turn.optimal,
            }
            rows.append(row)

        now = state(name, path)
        is_over = (path / RESULT).is_file()
        progress = {
            "done": now.done,
            "within": within,
            "total": now.total,
            "status": now.status,
            "count": now.turns,
            "over": is_over,
            "last": last,
            "turns": rows,
        }
        return JSONResponse(progress)

    def compare(self, request: Request) -> Response:
        """Two runs side by side, paired by world where they share any."""
        a = request.query_params.get("a", "")
        b = request.query_params.get("b", "")
        path_a = self._path_of(a)
        path_b = self._path_of(b)
        if a == b:
            raise GdeError("A and B are the same run. Choose two different runs.")

        # Runs that share no world still have numbers to look at.
        found = compare_runs({a: path_a, b: path_b}, self._catalogue)
        links = {name: f"/run/{quote(name)}" for name in found.runs}
        return _shown(contest_page(found, links, self._catalogue))

    def contest(self, request: Request) -> Response:
        """All variants of a contest side by side."""
        name = request.path_params["name"]
        found = read_contest(self._group(name, "contest"), self._catalogue)
        links = _links(name, found.results)
        return _shown(contest_page(found, links, self._catalogue))

    def study(self, request: Request) -> Response:
        """The page of a study or profile as it was written."""
        name = request.path_params["name"]
        found = read_study(self._group(name, "study"))
        return _shown(study_page(found, _links(name, found.results)))

    def _group(self, name: str, kind: str) -> Path:
        for run, path in library(self._root).items():
            if group_of(run, path) == (name, kind):
                return path.parent
        raise GdeError(f"Unknown {kind} {name!r}. Choose one from the list of runs.")

    def _path_of(self, name: str) -> Path:
        known = library(self._root)
        if name not in known:
            raise GdeError(f"Unknown run {name!r}. Choose one from the list of runs.")
        return known[name]

    def _rendered(self, path: Path, _: int) -> str:
        """The report of a run; the age of its result is part of the cache's key."""
        return page_of(path, self._catalogue)

    def _page(self, kind: str, **values: Any) -> HTMLResponse:
        text = rendered(
            f"{kind}.html.j2",
            source("viewer.js", __package__),
            __package__,
            "'self'",
            root=str(self._root),
            **values,
        )
        return HTMLResponse(text)


def _episodes_of(name: str, path: Path, _: float) -> tuple[Row, ...]:
    """The episodes of a run; the age of its record is part of the cache's key."""
    return episodes_of(name, path)


def _shown(page: str) -> HTMLResponse:
    """A page that was made for a file, with the way back to the list."""
    return HTMLResponse(page.replace(HEADER, HEADER + BACK, 1))


def _links(group: str, runs: Iterable[str]) -> dict[str, str]:
    """The addresses of the runs of a contest or study."""
    return {run: f"/run/{quote(f'{group}/{run}')}" for run in runs}


async def _as_text(_: Request, error: Exception) -> Response:
    """Answer an error with its message."""
    return PlainTextResponse(str(error), status_code=404)


def _number(text: str) -> int:
    """A small whole number from a request; 0 for anything else."""
    is_small = len(text) < 12
    if text.isdecimal() and is_small:
        return int(text)
    return 0
