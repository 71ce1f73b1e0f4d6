"""How a connection to a master is opened, for people and for tasks: one transport, one rule about certificates."""

from collections.abc import Mapping

import httpx

from resolute.host.trust import Trust


def open_http(
    master: str,
    trust: Trust,
    *,
    timeout: httpx.Timeout,
    is_proxied: bool,
    headers: Mapping[str, str] | None = None,
    transport: httpx.BaseTransport | None = None,
) -> httpx.Client:
    """A client whose paths are relative to `master`. `is_proxied`: the environment's proxies stand between."""
    tls = trust.context(master)
    client = httpx.Client(
        base_url=master,
        headers=dict(headers or {}),
        timeout=timeout,
        # Without TLS there is nothing to verify, and reading the certificates of the world takes 30 ms.
        verify=tls if tls is not None else False,
        trust_env=is_proxied,
        transport=transport,
    )
    if tls is not None and trust.cert_name:
        name = trust.cert_name
        client.event_hooks["request"].append(lambda request: request.extensions.update(sni_hostname=name))
        client.event_hooks = client.event_hooks
    return client
