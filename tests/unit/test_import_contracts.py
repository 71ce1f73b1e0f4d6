"""The import contracts of pyproject.toml hold, and each is broken by the import it is there to refuse."""

import copy
import importlib
from pathlib import Path
from typing import Any

import grimp
import pytest
from importlinter import api
from importlinter.domain.contract import Contract

ROOT = Path(__file__).parents[2]
CONFIGURATION = api.read_configuration(str(ROOT / "pyproject.toml"))
CONTRACTS: dict[str, dict[str, Any]] = {options["id"]: options for options in CONFIGURATION["contracts_options"]}
KINDS = {
    "layers": "layers:LayersContract",
    "forbidden": "forbidden:ForbiddenContract",
    "acyclic_siblings": "acyclic_siblings:AcyclicSiblingsContract",
}

_LOADED_BY_PATH = {"migrations", "harness_info"}
PLANTED = [
    ("layers", "resolute.engine.bus", "resolute.server.app"),
    ("layers", "resolute.host.nvml", "resolute.engine.bus"),
    ("layers", "resolute.client.client", "resolute.lifecycle"),
    ("layers", "resolute.training.lifecycle.aliases.kaptain.config", "resolute.lifecycle"),
    ("layers", "resolute.serving.handlers.aliases.ts.context", "resolute.cli.main"),
    ("layers", "resolute.a_folder_nobody_placed", "resolute.version"),
    *(
        ("pure", module, outside)
        for module in ("resolute.domain.trial", "resolute.spec.storage", "resolute.search.space")
        for outside in ("os", "socket", "threading", "time", "random", "subprocess", "sqlalchemy", "torch", "httpx")
    ),
    ("trials", "resolute.training.checkpoints", "resolute.engine.ports.blobs"),
    ("trials", "resolute.vision.trial", "resolute.runners.local"),
    ("trials", "resolute.store.blobs.storage", "resolute.engine.bus"),
    ("serving", "resolute.serving.router.process", "resolute.runners.local"),
    ("adapters", "resolute.server.routes.trials", "resolute.store.db.trials"),
    ("adapters", "resolute.server.views", "resolute.store.metrics.series"),
    ("clients", "resolute.client.session", "resolute.engine.bus"),
    ("clients", "resolute.client.session", "numpy"),
    ("acyclic", "resolute.vision.data.labels", "resolute.vision.settings"),
    ("acyclic", "resolute.server.resource", "resolute.server.routes.trials"),
]


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("resolute", include_external_packages=True, cache_dir=None)


def is_kept(contract: str, graph: grimp.ImportGraph) -> bool:
    options = {key: value for key, value in CONTRACTS[contract].items() if key not in ("id", "type", "name")}
    module, _, name = KINDS[CONTRACTS[contract]["type"]].partition(":")
    kind: type[Contract] = getattr(importlib.import_module(f"importlinter.contracts.{module}"), name)
    checked = kind(CONTRACTS[contract]["name"], CONFIGURATION["session_options"], options)
    # The check takes imports out of the graph that it is told to ignore.
    return bool(checked.check(copy.deepcopy(graph), verbose=False).kept)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_contract_is_kept(contract: str, imports: grimp.ImportGraph) -> None:
    assert is_kept(contract, imports)


@pytest.mark.parametrize(("contract", "importer", "imported"), PLANTED)
def test_a_contract_is_broken_by_the_import_it_refuses(
    contract: str, importer: str, imported: str, imports: grimp.ImportGraph
) -> None:
    planted = copy.deepcopy(imports)
    for module in (importer, imported):
        if module not in planted.modules:
            planted.add_module(module, is_squashed="." not in module)
    planted.add_import(importer=importer, imported=imported, line_number=1, line_contents=f"import {imported}")

    assert not is_kept(contract, planted)


def test_every_contract_is_seen_to_break() -> None:
    assert {contract for contract, _, _ in PLANTED} == set(CONTRACTS)


def test_no_python_file_of_the_package_is_invisible_to_the_contracts(imports: grimp.ImportGraph) -> None:
    source = ROOT / "src"
    known = imports.modules
    folders = [path.parent for path in (source / "resolute").rglob("*.py")]
    # Alembic loads its scripts by path, and the harness is given a file of its own: neither is a package of ours.
    seen = {".".join(each.relative_to(source).parts) for each in folders if not {*each.parts} & _LOADED_BY_PATH}

    assert seen <= known


def test_no_module_imports_itself_by_way_of_others(imports: grimp.ImportGraph) -> None:
    """Not even for types, and not inside the packages of the engine either."""
    ours = {module for module in imports.modules if module.split(".")[0] == "resolute"}
    leads_to = {module: imports.find_modules_directly_imported_by(module) & ours for module in ours}
    # What imports nothing that is left cannot be part of a cycle.
    while done := {module for module, imported in leads_to.items() if not imported}:
        leads_to = {module: imported - done for module, imported in leads_to.items() if module not in done}

    assert sorted(leads_to) == []
