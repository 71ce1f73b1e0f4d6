"""Where the nodes of a gang meet: each chooses its ports where it runs, tells the master how it is reached, and waits
until all have. The master keeps what they said, so that any of the three may be started again meanwhile.
"""

import contextlib
import fcntl
import socket
import struct
from collections.abc import Callable, Mapping
from typing import Any

from resolute.domain.errors import EnvironmentFailed, Unavailable, Untrusted
from resolute.domain.gang import (
    CLUSTER_INFO,
    PORT_NAMES,
    RENDEZVOUS_INFO,
    Meeting,
    meeting_variables,
    rendezvous_info,
    resources_id,
)
from resolute.runners.shepherd.master_link import MasterLink

_PAUSES_S = (0.05, 0.1, 0.2, 0.5, 1.0)
_SIOCGIFADDR = 0x8915


def meet(request: Mapping[str, Any], link: MasterLink | None, wait: Callable[[float], None]) -> Meeting:
    """`link` is asked when there is more than one node. `wait` may raise, and ends the waiting when it does."""
    slots = len(request["slot_ids"])
    if request["node_count"] == 1:
        ports = _free_ports("127.0.0.1") if CLUSTER_INFO in request["files"] else ()
        return Meeting(addresses=("127.0.0.1",), slots=(slots,), ports=ports)
    if link is None or "DET_MASTER" not in request["env"]:
        raise EnvironmentFailed("A gang of several nodes meets through its master, and DET_MASTER does not name one.")
    address = request["address"] or _address_towards(link)
    own = {
        "nodeId": request["node_id"],
        "address": address,
        "slotIds": list(request["slot_ids"]),
        "ports": list(_free_ports(address)),
        "nodes": request["node_count"],
    }
    return _all_present(request, link, own, wait)


def _all_present(
    request: Mapping[str, Any], link: MasterLink, own: Mapping[str, object], wait: Callable[[float], None]
) -> Meeting:
    allocation = request["allocation_id"]
    path = f"/api/v1/allocations/{allocation}/resources/{resources_id(allocation, request['rank'])}/rendezvous"
    turn = 0
    while True:
        try:
            answer = link.post_json(path, own)
            if answer["isComplete"]:
                info = answer["rendezvousInfo"]
                return Meeting(tuple(info["addresses"]), tuple(info["slots"]), tuple(answer["ports"]))
        except Untrusted:
            raise
        except Unavailable:
            pass  # The master is away: it will be back.
        wait(_PAUSES_S[min(turn, len(_PAUSES_S) - 1)])
        turn += 1


def variables_of(meeting: Meeting, request: Mapping[str, Any]) -> dict[str, str]:
    """For the environment of the entrypoint. What the user set for gloo and NCCL stays."""
    variables = meeting_variables(meeting, request["rank"])
    if len(meeting.addresses) > 1:
        interface = _interface_of(meeting.addresses[request["rank"]])
        # Both guess an interface from the name of the host, which is right on few clusters.
        for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
            if interface and name not in request["env"]:
                variables[name] = interface
    return variables


def files_of(meeting: Meeting, request: Mapping[str, Any]) -> dict[str, str]:
    """What the harness reads about the others, unless whoever made the gang knew better."""
    is_wanted = CLUSTER_INFO in request["files"] and RENDEZVOUS_INFO not in request["files"]
    return {RENDEZVOUS_INFO: rendezvous_info(meeting, request["rank"])} if is_wanted else {}


def _address_towards(link: MasterLink) -> str:
    """The own address on the way to the master; nothing is sent."""
    family, kind, protocol, _, target = socket.getaddrinfo(link.host, link.port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        try:
            probe.connect(target)
        except OSError as error:
            raise Unavailable(f"There is no way to the master at {link.host}: {error.strerror}.") from error
        return str(probe.getsockname()[0])


def _free_ports(address: str) -> tuple[int, ...]:
    """Ports nobody listens on right now, all different."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with contextlib.ExitStack() as closing:
        sockets = [closing.enter_context(socket.socket(family)) for _ in PORT_NAMES]
        for each in sockets:
            each.bind((address, 0))
        return tuple(each.getsockname()[1] for each in sockets)


def _interface_of(address: str) -> str:
    """Empty when none has it, or it cannot be found out here."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):
                answer = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                if socket.inet_ntoa(answer[20:24]) == address:
                    return name
    return ""
