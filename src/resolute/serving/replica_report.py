"""Tells the master where a replica listens and when it can answer; a master that is away is told when it is back."""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote, urlsplit

_log = logging.getLogger("resolute.serving")
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 5.0
_ANSWER_S = 10.0
_MOST_BYTES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterReport:
    master: str
    allocation_id: str
    token: str

    @classmethod
    def of(cls, env: Mapping[str, str]) -> "MasterReport | None":
        """None outside an allocation."""
        master = env.get("RESOLUTE_MASTER") or env.get("DET_MASTER") or ""
        allocation_id = env.get("RESOLUTE_ALLOCATION_ID") or env.get("DET_ALLOCATION_ID") or ""
        token = env.get("DET_SESSION_TOKEN", "")
        if not (master and allocation_id and token):
            return None
        return cls(master=master.rstrip("/"), allocation_id=allocation_id, token=token)

    async def listens(self, address: str) -> None:
        await self._post("proxy_address", {"proxyAddress": address})

    async def is_ready(self) -> None:
        await self._post("ready", {})

    async def _post(self, what: str, body: dict[str, str]) -> None:
        """Until the master has it. A refusal is final: it is logged, and the replica goes on serving."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                status, text = await asyncio.wait_for(self._post_once(what, body), _ANSWER_S)
            except (OSError, ValueError, TimeoutError) as problem:
                _log.info("The master cannot be told %s yet: %s", what, str(problem) or type(problem).__name__)
            else:
                if status < HTTPStatus.INTERNAL_SERVER_ERROR:
                    _log_refusal(what, status, text)
                    return
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    async def _post_once(self, what: str, body: dict[str, str]) -> tuple[int, str]:
        """Two small requests in the life of a replica: an HTTP client would be most of what it imports."""
        master = urlsplit(self.master)
        is_secure = master.scheme == "https"
        port = master.port or (443 if is_secure else 80)
        reader, writer = await asyncio.open_connection(master.hostname, port, ssl=is_secure or None)
        content = json.dumps(body)
        writer.write(
            f"POST {master.path}/api/v1/allocations/{quote(self.allocation_id, safe='')}/{what} HTTP/1.1\r\n"
            f"host: {master.netloc}\r\ngrpc-metadata-x-allocation-token: Bearer {self.token}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(content)}\r\n"
            f"connection: close\r\n\r\n{content}".encode()
        )
        try:
            answer = (await reader.read(_MOST_BYTES)).decode("latin-1")
        finally:
            writer.close()
        if not answer.startswith("HTTP/1."):
            raise ValueError("it closed the connection")
        return int(answer[9:12]), answer.rpartition("\r\n\r\n")[2]


def _log_refusal(what: str, status: int, text: str) -> None:
    if status >= HTTPStatus.BAD_REQUEST:
        _log.warning("The master refused %s: %d %s", what, status, text[:200])
