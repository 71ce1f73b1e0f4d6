"""Two nodes shake hands where the rendezvous says, then print the same lines at the same time."""

import json
import os
import pathlib
import socket
import time
import urllib.request

RANK = int(os.environ["PET_NODE_RANK"])
MEETING = (os.environ["PET_MASTER_ADDR"], int(os.environ["PET_MASTER_PORT"]))


def shake_hands() -> str:
    if RANK == 0:
        with socket.create_server(MEETING) as server:
            other, _ = server.accept()
            with other:
                other.sendall(b"hello from rank 0")
                return other.recv(100).decode()
    for _ in range(1000):
        try:
            with socket.create_connection(MEETING) as other:
                other.sendall(b"hello from rank 1")
                return other.recv(100).decode()
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise TimeoutError("nobody listens")


def asked_of_the_master() -> dict:
    allocation, resources = os.environ["DET_ALLOCATION_ID"], os.environ["DET_RESOURCES_ID"]
    path = f"/api/v1/allocations/{allocation}/resources/{resources}/rendezvous"
    headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {os.environ['DET_SESSION_TOKEN']}"}
    with urllib.request.urlopen(urllib.request.Request(os.environ["DET_MASTER"] + path, headers=headers)) as answer:
        return json.load(answer)["rendezvousInfo"]


print(f"node {RANK} met: {shake_hands()}", flush=True)
told = json.loads(os.environ["RESOLUTE_RENDEZVOUS"])
file = json.loads(pathlib.Path(os.environ["RESOLUTE_INFO_DIR"], "rendezvous.json").read_text())
assert asked_of_the_master() == told, (asked_of_the_master(), told)
assert file["container_addrs"] == told["addresses"], (file, told)
for number in range(int(os.environ.get("GANG_LINES", "60"))):
    print(f"line {number} of all", flush=True)
    print(f"node {RANK} line {number}", flush=True)
    time.sleep(0.05)
hold = pathlib.Path(os.environ.get("HOLD", ""))
while hold.is_file():
    time.sleep(0.05)
