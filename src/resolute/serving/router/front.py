"""The router as an application of the HTTP server: finds a request's deployment by its head, answers in its turn."""

from dataclasses import dataclass

from resolute.serving.http.connection import Pending, Turn
from resolute.serving.http.request import Request
from resolute.serving.router.exchange import Exchange, Nobody
from resolute.serving.router.routes import Found, Routes


@dataclass(frozen=True, slots=True)
class Front:
    """`serving.http.connection.Application`."""

    routes: Routes

    def opened(self, request: Request) -> int:
        found = self.routes.find(request)
        request.target = found
        return found.deployed.routed.max_body_bytes

    def too_large(self, request: Request, size: int, limit: int) -> str:
        return f"The request has {size} bytes or more; this deployment takes {limit} (serving.max_body_bytes)."

    def answer(self, request: Request, turn: Turn) -> Pending | None:
        found: Found = request.target
        found.deployed.counter.asked += 1
        exchange = Exchange(found.deployed, request, found.path, turn)
        if found.deployed.routed.shadow is not None:
            Exchange(found.deployed, request, found.path, Nobody(), is_shadow=True).shadow()
        exchange.dispatch()
        return exchange

    def refused(self, request: Request, status: int) -> None:
        """Nobody counts them."""
