"""Another account of the machine at the door of a master on loopback."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play somebody else")


def login_of_somebody_else(url: str, username: str, password: str) -> dict[str, Any]:
    """As an account that is neither root nor the master's."""
    script = (
        "import json, sys, urllib.request, urllib.error\n"
        "request = urllib.request.Request(sys.argv[1], data=sys.argv[2].encode())\n"
        "try: print(urllib.request.urlopen(request).read().decode())\n"
        "except urllib.error.HTTPError as error: print(error.read().decode())\n"
    )
    body = json.dumps({"username": username, "password": password})
    command = ["/usr/bin/python3", "-c", script, f"{url}/api/v1/auth/login", body]
    done = subprocess.run(command, user=54321, cwd="/", capture_output=True, text=True, timeout=60, check=True)
    return dict(json.loads(done.stdout))


def test_only_the_masters_own_account_comes_in_without_a_password(live_master: Any) -> None:
    token = Path(live_master.home, "first-run.token").read_text().strip()

    refused = login_of_somebody_else(live_master.url, "admin", "")
    shown = login_of_somebody_else(live_master.url, "admin", token)
    forged = httpx.post(
        f"{live_master.url}/api/v1/auth/login",
        json={"username": "admin", "password": ""},
        headers={"X-Forwarded-For": "127.0.0.1"},
    )
    live_master.login("admin")

    assert "first-run.token" in refused["error"]["error"]
    assert shown["user"]["username"] == "admin"
    assert forged.status_code == 401
    assert Path(live_master.home, "first-run.token").stat().st_mode & 0o777 == 0o600
