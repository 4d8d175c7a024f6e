"""The pages: runs, one run, two side by side, episodes of all.

Reached from this machine alone, under its own name: a page elsewhere that has its name point to this machine is turned
away by the Host header, one that asks in a reader's browser by Sec-Fetch-Site. Only GET, nothing is written.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gde.errors import GdeError
from gde.reporting.contest import contest_page
from gde.reporting.html import page
from gde.reporting.policy import content_policy
from gde.reporting.templates import source, template
from gde.reporting.viewer.library import contest_of, library, state
from gde.request.catalogue import Catalogue
from gde.runs.comparing import compare
from gde.runs.contest import Contest, read_contest
from gde.runs.exporting import summaries
from gde.stages.evidence import load_evidence
from gde.store.folder import RESULT, RunFolder

HOSTS = ["127.0.0.1", "localhost"]
SHOWN = 500
"""Episodes in one table."""
TURNS = 50
"""Turns in one answer of a live page."""
PAGES = 16
"""Reports that are kept as they were rendered."""
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",  # the rest is in each page, with the hashes of what it holds
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def create_app(root: Path, catalogue: Catalogue | None = None) -> Starlette:
    """The viewer of the runs in a folder, as an ASGI application."""
    pages = Pages(root, catalogue or Catalogue.default())
    routes = [
        Route("/", _answering(pages.runs), methods=["GET"]),
        Route("/compare", _answering(pages.compare), methods=["GET"]),
        Route("/episodes", _answering(pages.episodes), methods=["GET"]),
        Route("/live/{name:path}", _answering(pages.live), methods=["GET"]),
        Route("/contest/{name:path}", _answering(pages.contest), methods=["GET"]),
        Route("/run/{name:path}", _answering(pages.run), methods=["GET"]),
    ]
    guards = [Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False), Middleware(OwnPages)]
    return Starlette(routes=routes, middleware=guards)


class OwnPages:
    """Answers its own pages and who types an address, nobody else, and tells browsers to keep the answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            await PlainTextResponse("asked for by another site", status_code=403)(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, told)


class Pages:
    """What is answered; runs are looked up by their names, never by a path that somebody gives."""

    def __init__(self, root: Path, catalogue: Catalogue) -> None:
        self._root, self._catalogue = root, catalogue
        self._report = lru_cache(maxsize=PAGES)(self._rendered)

    def runs(self, _: Request) -> Response:
        """The list."""
        states = [state(name, path) for name, path in library(self._root).items()]
        return self._page("runs", states=states, live=any(each.live for each in states))

    def run(self, request: Request) -> Response:
        """The report of a finished run, made anew from its record; else its turns as they come."""
        name, path = self._named(request.path_params["name"])
        if not (path / RESULT).is_file():
            return self._page("live", state=state(name, path), live=True)
        return HTMLResponse(self._report(path, (path / RESULT).stat().st_mtime_ns))

    def live(self, request: Request) -> Response:
        """How far a run is, and its turns after the one that was told last."""
        name, path = self._named(request.path_params["name"])
        after = _number(request.query_params.get("after", "0"))
        with closing(RunFolder.open(path).journal(write=False)) as journal:
            last = journal.last_turn()
            _, turns = journal.turns_since(max(after, last - TURNS))
            within = journal.under_way()
        now = state(name, path)
        told = [
            {
                "episode": episode,
                "turn": turn.index + 1,
                "decision": turn.decision.action or f"none, {turn.decision.status}",
                "best": turn.optimal,
            }
            for episode, turn in turns
        ]
        counted = {"done": now.done, "within": within, "total": now.total, "status": now.status, "count": now.turns}
        return JSONResponse({**counted, "over": (path / RESULT).is_file(), "last": last, "turns": told})

    def compare(self, request: Request) -> Response:
        """Two runs side by side, paired by world where they share any."""
        (a, path_a), (b, path_b) = (self._named(request.query_params.get(side, "")) for side in "ab")
        if a == b:
            raise GdeError("choose two runs that are not the same")
        results = {name: RunFolder.open(path).read_result() for name, path in ((a, path_a), (b, path_b))}
        found = Contest(folder=self._root, results=results)
        try:
            found = replace(found, compared=(compare(path_a, path_b, self._catalogue),))
        except GdeError as error:
            found = replace(found, reason=str(error))
        return HTMLResponse(contest_page(found, {name: f"/run/{quote(name)}" for name in results}))

    def contest(self, request: Request) -> Response:
        """All entrants of a contest side by side."""
        asked = request.path_params["name"]
        known = {name: path for name, path in library(self._root).items() if contest_of(name, path) == asked != name}
        if not known:
            raise GdeError(f"unknown contest {asked!r}: the list has those that there are")
        found = read_contest(next(iter(known.values())).parent, self._catalogue)
        return HTMLResponse(contest_page(found, {name: f"/run/{quote(f'{asked}/{name}')}" for name in found.results}))

    def episodes(self, request: Request) -> Response:
        """Episodes of all runs, those that have every word that is asked for."""
        asked = request.query_params
        words, ending = asked.get("find", "").lower().split(), asked.get("ending", "")
        found = [
            row
            for row in self._all_episodes(asked.get("run", ""))
            if (not ending or row["ending"] == ending) and all(word in row["text"] for word in words)
        ]
        choices = ["terminated", "truncated", "horizon", "failed"]
        return self._page(
            "episodes",
            rows=found[:SHOWN],
            n=len(found),
            asked={"find": asked.get("find", ""), "ending": ending, "run": asked.get("run", "")},
            endings=choices,
            names=list(library(self._root)),
            live=False,
        )

    def _all_episodes(self, only: str) -> Iterator[dict[str, Any]]:
        for name, path in library(self._root).items():
            if only and name != only:
                continue
            try:
                rows = summaries(path)
            except GdeError:
                continue
            for row in rows:
                labels = " ".join(f"{key} {value}" for key, value in row.items() if key not in ("episode", "ending"))
                text = f"{name} {row['episode']} {row['ending']} {labels}".lower()
                yield {"run": name, "episode": row["episode"], "ending": row["ending"], "labels": labels, "text": text}

    def _named(self, name: str) -> tuple[str, Path]:
        known = library(self._root)
        if name not in known:
            raise GdeError(f"unknown run {name!r}: the list has those that there are")
        return name, known[name]

    def _rendered(self, path: Path, _: int) -> str:
        """The report of a result of this age."""
        folder = RunFolder.open(path)
        return page(folder.plan(), folder.read_result(), load_evidence(path, self._catalogue))

    def _page(self, kind: str, **values: Any) -> HTMLResponse:
        style, script = source("style.css"), source("viewer.js", __package__)
        text = template(f"{kind}.html.j2", __package__).render(
            **values, root=str(self._root), style=style, script=script, policy=content_policy(style, script, "'self'")
        )
        return HTMLResponse(text)


def _answering(answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """What cannot be had is told in a line."""

    def answered(request: Request) -> Response:
        try:
            return answer(request)
        except GdeError as error:
            return PlainTextResponse(str(error), status_code=404)

    return answered


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 12 else 0
