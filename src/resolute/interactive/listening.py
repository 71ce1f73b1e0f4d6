"""What a server inside a task needs to know and to tell: where to listen, that it does, and that it is ready."""

import os
import socket
from collections.abc import Mapping
from urllib.parse import quote

from resolute.client.task.client import TaskClient
from resolute.client.task.retry import REPLICA_REPORT
from resolute.domain.errors import Unavailable
from resolute.serving.replica_report import address_towards_master


class Reception:
    """The task of this process, as its master knows it."""

    def __init__(self, env: Mapping[str, str] = os.environ) -> None:
        client = TaskClient.of(env)
        if client is None:
            raise Unavailable(
                "This program is started by a master, as a task. Use `resolute notebook` or `tensorboard`."
            )
        self._client = client
        self._allocation_id = env["DET_ALLOCATION_ID"]
        self.task_id = env["DET_TASK_ID"]
        self.host = address_towards_master(env)

    @property
    def base_path(self) -> str:
        """Under which the master hands on requests, unchanged."""
        return f"/proxy/{self.task_id}"

    def free_port(self) -> int:
        with socket.create_server((self.host, 0), family=_family(self.host)) as taken:
            return int(taken.getsockname()[1])

    def is_ready(self, port: int) -> None:
        """It answers there. A master that is away is told when it is back."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        self._tell("proxy_address", {"proxyAddress": f"{host}:{port}"})
        self._tell("ready", {})

    def _tell(self, what: str, body: dict[str, str]) -> None:
        path = f"/api/v1/allocations/{quote(self._allocation_id, safe='')}/{what}"
        REPLICA_REPORT.run(lambda: self._client.post(path, body))


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
