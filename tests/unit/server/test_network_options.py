"""Options about the network: what cannot be used is refused before anything is started."""

from pathlib import Path

import pytest

from resolute.domain.errors import InvalidInput
from resolute.server.network import NetworkOptions, open_network


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--tls-cert", "none.pem", "--tls-key", "none.pem"), "none.pem cannot be read: No such file"),
        (("--tls-cert", "none.pem"), "--tls-key is missing"),
        (("--tls", "yes"), "--tls 'yes' is unknown. It is self-signed, or off."),
        (("--allow-cidr", "10.0.0.1/8"), "Did you mean 10.0.0.0/8?"),
        (("--trusted-proxy", "nginx"), "--trusted-proxy 'nginx' is no network"),
        (("--task-domain", "1.2.3.4"), "--task-domain '1.2.3.4' is no domain"),
    ],
)
def test_a_master_does_not_start_with_what_it_cannot_use(
    tmp_path: Path, options: tuple[str, ...], sentence: str
) -> None:
    pairs = dict(zip(options[::2], options[1::2], strict=True))
    given = NetworkOptions(
        tls=pairs.get("--tls", ""),
        tls_cert=Path(pairs["--tls-cert"]) if "--tls-cert" in pairs else None,
        tls_key=Path(pairs["--tls-key"]) if "--tls-key" in pairs else None,
        allow_cidr=[pairs["--allow-cidr"]] if "--allow-cidr" in pairs else [],
        trusted_proxy=[pairs["--trusted-proxy"]] if "--trusted-proxy" in pairs else [],
        task_domain=pairs.get("--task-domain", ""),
    )

    with pytest.raises(InvalidInput) as refused:
        open_network(given, tmp_path, ())

    assert sentence in str(refused.value)
