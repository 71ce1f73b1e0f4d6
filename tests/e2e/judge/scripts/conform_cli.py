"""Types verbs of the official command line, all in this one process: importing it takes longer than most verbs.

Standard input: the lines of `cli.txt`, and things of the test's own by name. Standard output: every verb there is, and
for each line the verb it is about and what it said instead of working.
"""

import argparse
import contextlib
import getpass
import io
import json
import os
import re
import shlex
import signal
import sys
import traceback
from typing import Any

import determined.cli
from determined.cli import cli

TIMEOUT_S = 60


def main() -> None:
    asked = json.load(sys.stdin)
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the client prints past us
    getpass.getpass = lambda prompt="": "Password456" if re.search("new|confirm", prompt.lower()) else ""
    verbs, known = leaves(), asked["known"]
    results = [tried(line, verbs, known) for line in asked["lines"]]
    with answer:
        json.dump({"verbs": sorted(verbs), "results": results}, answer)


def tried(line: str, verbs: set[str], known: dict[str, Any]) -> dict[str, str]:
    """Named groups of what the output has to match are known to the lines that follow."""
    command, _, wanted = line.partition(" => ")
    words = shlex.split(_filled(command, known))
    verb = max((verb for verb in verbs if f"{' '.join(words)} ".startswith(f"{verb} ")), key=len, default="")
    code, out, err = run(words)
    found = re.search(_filled(wanted, {name: re.escape(str(value)) for name, value in known.items()}), out)
    known.update(found.groupdict() if found else {})
    if code == 0 and found:
        return {"verb": verb, "said": ""}
    lines = [each for each in re.sub(r"\x1b\[[0-9;]*m", "", err or out).splitlines() if each.strip()]
    # After a traceback the last line only names the verb.
    lines = lines[:-1] if "Traceback" in err and len(lines) > 1 else lines
    return {"verb": verb, "said": lines[-1].strip() if lines else f"exit code {code}; looked for {wanted!r}"}


def _filled(text: str, known: dict[str, Any]) -> str:
    """What is not known is not there."""
    missing = "00000000-0000-4000-8000-000000000000"
    return re.sub(r"{([a-z][a-z_0-9]*)}", lambda name: str(known.get(name[1], missing)), text)


def run(words: list[str]) -> tuple[int, str, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    code = 0
    sys.stdin = io.StringIO("yes\n" * 3)
    signal.signal(signal.SIGALRM, _expired)
    signal.alarm(TIMEOUT_S)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main(words)
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
            err.write(leaving.code if isinstance(leaving.code, str) else "")
        except BaseException:
            code = 99
            traceback.print_exc(file=err)
        finally:
            signal.alarm(0)
    return code, out.buffer.getvalue().decode(), err.getvalue()  # type: ignore[attr-defined]


def _expired(number: int, frame: object) -> None:
    raise TimeoutError("it did not end in time")


def leaves() -> set[str]:
    """Every verb that does something; of several names for one the first."""
    parser = cli.make_parser()
    determined.cli.add_args(parser, cli.all_args_description)
    return {leaf for leaf in _walk(parser, "") if not leaf.endswith("help") and not leaf.startswith("deploy")}


def _walk(parser: argparse.ArgumentParser, path: str) -> list[str]:
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        return [path]
    first: dict[int, tuple[str, argparse.ArgumentParser]] = {}
    for action in below:
        for name, child in action.choices.items():
            first.setdefault(id(child), (name, child))
    return [leaf for name, child in first.values() for leaf in _walk(child, f"{path} {name}".strip())]


if __name__ == "__main__":
    main()
