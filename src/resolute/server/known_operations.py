"""Operations of Determined's API by name: one that this master does not serve is refused with a sentence of its own.

`known_operations.txt` lists what official clients call, one `Name METHOD path` a line. What is served is known from
the routes; only a request that no route takes is looked up here.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_LIST = Path(__file__).parent / "known_operations.txt"

_INSTEAD = {
    "/api/v1/k8s-resource-managers": "It asks no Kubernetes for namespaces or quotas.",
    "/api/v1/namespace-bindings": "Workspaces are not bound to namespaces of Kubernetes.",
    "/api/v1/workspaces": "Workspaces are not bound to namespaces of Kubernetes, nor have they quotas.",
    "/api/v1/resource-pools": "Every workspace may use every pool.",
    "/api/v1/config-policies": "Put what must hold for everybody into a template.",
    "/api/v1/trials": "The profiler of current clients reports metric groups: ask for those of the trial instead.",
    "/api/v1/runs": "Use the same call of the run's experiment.",
    "/api/v1/roles": "Rights by roles are not assigned over this API.",
    "/api/v1/groups": "Groups are not kept over this API.",
    "/api/v1/webhooks": "Follow /api/v1/events instead.",
}
"""What else there is, by the beginning of the path; the longest counts."""


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    method: str
    path: str

    @property
    def form(self) -> str:
        """The path with nameless parameters."""
        return form_of(self.path)

    @property
    def refusal(self) -> str:
        instead = max((begins for begins in _INSTEAD if self.path.startswith(begins)), key=len, default="")
        return (
            f"This master does not serve {self.name} ({self.method} {self.path}). {_INSTEAD.get(instead, '')}".strip()
        )


def form_of(path: str) -> str:
    return re.sub(r"{[^}]*}", "{}", path)


@cache
def known_operations() -> tuple[Operation, ...]:
    return tuple(Operation(*line.split()) for line in _LIST.read_text().splitlines() if line)


def operation_of(method: str, path: str) -> Operation | None:
    """What official clients mean by this request. One that is spelled out counts before one with parameters."""
    found = [each for each in known_operations() if each.method == method and _pattern(each.path).fullmatch(path)]
    return min(found, key=lambda each: each.form.count("{}"), default=None)


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)))
