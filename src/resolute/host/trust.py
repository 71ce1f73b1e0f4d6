"""Which certificates of a master are believed: one rule, for people, for tasks and for their supervisors.

Standard library and `domain` only: supervisors run where nothing else is installed.

`DET_MASTER_CERT_FILE` names a file of certificates to trust instead of the system's, or is `noverify`: then any
certificate will do. `DET_MASTER_CERT_NAME` is the name that the certificate must carry, when it is not the address's.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from resolute.domain.errors import InvalidInput

NO_VERIFY = "noverify"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Which certificates of the master are believed. Without anything: those the system trusts."""

    cert_file: str = ""
    cert_name: str = ""

    @classmethod
    def of(cls, env: Mapping[str, str]) -> "Trust":
        return cls(cert_file=env.get("DET_MASTER_CERT_FILE", ""), cert_name=env.get("DET_MASTER_CERT_NAME", ""))

    def context(self, master: str) -> ssl.SSLContext | None:
        """None without TLS. Raises InvalidInput when the file is not there or holds no certificate."""
        if not master.startswith("https:"):
            return None
        if self.cert_file.lower() == NO_VERIFY:
            return ssl._create_unverified_context()
        try:
            context = ssl.create_default_context(cafile=self.cert_file or None)
        except OSError as problem:  # ssl.SSLError, for a file without certificates, is one of these.
            raise InvalidInput(
                f"DET_MASTER_CERT_FILE is {self.cert_file!r}, which cannot be read as certificates "
                f"({problem.strerror or problem}). Name a PEM file, or set it to {NO_VERIFY} to trust any certificate."
            ) from None
        if self.cert_file:
            # What somebody named is trusted, also without the authority that signed it.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        return context


def why_not_trusted(problem: BaseException) -> str:
    """What is wrong with the master's certificate, if that is why there is no connection; else nothing."""
    seen: BaseException | None = problem
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            return f"{seen.verify_message} (DET_MASTER_CERT_FILE names the authority to trust, or is {NO_VERIFY})"
        seen = seen.__cause__ or seen.__context__
    return ""
