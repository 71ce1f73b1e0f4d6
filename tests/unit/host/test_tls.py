"""Certificates of a server: read again when they change, and refused with a sentence when they do not fit."""

import shutil
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from resolute.domain.errors import InvalidInput
from resolute.host.self_signed import LIFE, names_in, self_signed
from resolute.host.tls import Certificate, check

NAMES = ("train.example", "127.0.0.1", "::1", "")


def shown(certificate: Certificate) -> bytes:
    """What a new connection is shown."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client_context = ssl._create_unverified_context()
    server = certificate.context.wrap_bio(to_server, to_client, server_side=True)
    client = client_context.wrap_bio(to_client, to_server)
    for _ in range(4):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    found = client.getpeercert(binary_form=True)
    assert found is not None
    return found


def test_a_certificate_of_our_own_is_kept_and_private(tmp_path: Path) -> None:
    cert, key = self_signed(tmp_path / "tls", NAMES)
    first = cert.read_bytes()

    assert self_signed(tmp_path / "tls", ("train.example",))[0].read_bytes() == first
    assert key.stat().st_mode & 0o077 == 0
    assert names_in(cert) == {"train.example", "127.0.0.1", "::1"}


def test_a_new_name_or_a_certificate_that_has_run_out_makes_another(tmp_path: Path) -> None:
    long_ago = datetime.now(UTC) - 2 * LIFE
    old = self_signed(tmp_path, ("a.example",), now=long_ago)[0].read_bytes()
    renewed = self_signed(tmp_path, ("a.example",))[0].read_bytes()
    renamed = self_signed(tmp_path, ("a.example", "b.example"))[0].read_bytes()

    assert len({old, renewed, renamed}) == 3


def test_new_connections_get_the_new_certificate(tmp_path: Path) -> None:
    cert, key = self_signed(tmp_path / "a", NAMES)
    certificate = Certificate(cert, key)
    before, fingerprint = shown(certificate), certificate.fingerprint
    other_cert, other_key = self_signed(tmp_path / "b", NAMES)
    shutil.copy(other_cert, cert)

    assert certificate.look() is False, "the key has not come yet"
    assert shown(certificate) == before
    shutil.copy(other_key, key)
    assert certificate.look() is True
    assert certificate.look() is False
    assert shown(certificate) != before
    assert certificate.fingerprint != fingerprint
    assert len(fingerprint) == 95


def test_files_that_cannot_be_used_are_refused_with_the_remedy(tmp_path: Path) -> None:
    cert, key = self_signed(tmp_path / "a", NAMES)
    _, other = self_signed(tmp_path / "b", NAMES)
    (tmp_path / "text.pem").write_text("no certificate")

    with pytest.raises(InvalidInput, match=r"--tls-key .* is not the key to the certificate"):
        check(cert, other)
    with pytest.raises(InvalidInput, match=r"--tls-cert .*none.pem cannot be read: No such file"):
        check(tmp_path / "none.pem", key)
    with pytest.raises(InvalidInput, match="Give PEM files"):
        check(tmp_path / "text.pem", key)
