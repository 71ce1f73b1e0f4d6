"""Tells the master where a replica listens and when it can answer; a master that is away is told when it is back."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

import httpx

_log = logging.getLogger("resolute.serving")
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 5.0


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
        url = f"{self.master}/api/v1/allocations/{quote(self.allocation_id, safe='')}/{what}"
        pause_s = _FIRST_PAUSE_S
        headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {self.token}"}
        async with httpx.AsyncClient(timeout=10, headers=headers) as client:
            while True:
                try:
                    answer = await client.post(url, json=body)
                except httpx.HTTPError as problem:
                    _log.info("The master cannot be told %s yet: %s", what, problem or type(problem).__name__)
                else:
                    if answer.status_code < 500:
                        _log_refusal(what, answer)
                        return
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


def _log_refusal(what: str, answer: httpx.Response) -> None:
    if answer.status_code >= 400:
        _log.warning("The master refused %s: %d %s", what, answer.status_code, answer.text[:200])
