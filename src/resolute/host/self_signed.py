"""A certificate that a master makes for itself, kept in its home, so that clients have to trust it once only."""

import ipaddress
import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFE = timedelta(days=3650)
"""Nobody renews it, and who trusts it compares a fingerprint. Remove the folder to have another made."""
_CLOCKS_DIFFER = timedelta(days=1)


def self_signed(folder: Path, names: Iterable[str], *, now: datetime | None = None) -> tuple[Path, Path]:
    """Certificate and key in `folder`, made if they are not there or do not carry all `names`."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    wanted = tuple(dict.fromkeys(name for name in names if name))
    if not (cert.is_file() and key.is_file() and set(wanted) <= names_in(cert)):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make(cert, key, wanted, now or datetime.now(UTC))
    return cert, key


def names_in(cert: Path) -> set[str]:
    """DNS names and addresses that a certificate is for, if it is still valid."""
    found = x509.load_pem_x509_certificate(cert.read_bytes())
    if found.not_valid_after_utc <= datetime.now(UTC):
        return set()
    try:
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set()
    return {str(value) for kind in (x509.DNSName, x509.IPAddress) for value in names.get_values_for_type(kind)}


def _make(cert: Path, key: Path, names: Iterable[str], now: datetime) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Resolute")])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCKS_DIFFER)
        .not_valid_after(now + LIFE)
        .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(private, hashes.SHA256())
    )
    _write(
        key,
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
        0o600,
    )
    _write(cert, made.public_bytes(serialization.Encoding.PEM), 0o644)


def _write(path: Path, content: bytes, mode: int) -> None:
    draft = path.with_suffix(".new")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(content)
    os.replace(draft, path)


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
