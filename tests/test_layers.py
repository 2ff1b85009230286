"""Imports go down or sideways, never up, and never in a circle."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import kaccess

ROOT = Path(kaccess.__file__).parent
LAYERS = [  # from the bottom to the top
    {"base", "config"},
    {"robots", "engines", "poses", "starts", "access", "cluster"},
    {"envs", "policies", "sac", "clone", "gpu", "ppo", "pairs"},
    {"study"},
    {"guide", "evaluation", "training", "learned", "exports", "deploy", "distribute"},
    {"report", "pipeline", "cli"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
# Third-party packages that only these parts may import.
ONLY_IN = {
    "torch": {"sac", "clone", "gpu", "ppo", "learned"},
    "gymnasium": {"envs", "gpu", "sac", "ppo"},
    "rsl_rl": {"ppo"},
    "tensordict": {"ppo"},
    "matplotlib": {"report"},
    "jinja2": {"report"},
    "PIL": {"report"},
    "tyro": {"cli"},
    "zarr": {"study"},
    "onnxruntime": {"deploy"},
    "ray": {"distribute"},
    "serial": {"deploy"},
    "websockets": {"deploy", "report"},
}
# Functions that write files, and the parts that may call them.
WRITES = {"whole_file", "write_json", "write_tensors"}
WRITERS = {
    *("base", "starts", "policies", "sac", "study"),
    *("learned", "exports", "deploy", "report"),
}
# Files that `kaccess export` copies: they run in other frameworks, without kaccess.
TRAVEL = ROOT / "exports" / "files"


def part_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def modules():
    top = {ROOT / "__init__.py", ROOT / "__main__.py"}
    paths = [path for path in ROOT.rglob("*.py") if path not in top]
    return [path for path in paths if path.parent != TRAVEL]


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def links():
    """Yield every module, its part, and the part of each import from the package."""
    for path in modules():
        for name in imports(path):
            package, _, rest = name.partition(".")
            other = rest.split(".")[0]
            if package == "kaccess" and other in LEVEL and other != part_of(path):
                yield path, part_of(path), other


def test_every_module_has_a_layer():
    assert {part_of(path) for path in modules()} == LEVEL.keys()


def test_imports_do_not_go_up():
    wrong = [
        f"{path.relative_to(ROOT)} imports {other}"
        for path, part, other in links()
        if LEVEL[other] > LEVEL[part]
    ]
    assert wrong == []


def test_imports_do_not_go_in_a_circle():
    graph = {}
    for _, part, other in links():
        graph.setdefault(part, set()).add(other)
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_third_party_packages_stay_where_they_belong():
    for path in modules():
        for name in imports(path):
            package = name.split(".")[0]
            assert part_of(path) in ONLY_IN.get(package, {part_of(path)}), path


def test_only_some_parts_write_files():
    for path in modules():
        used = {name.rpartition(".")[2] for name in imports(path)}
        assert not used & WRITES or part_of(path) in WRITERS, path


def test_contributing_shows_these_layers():
    text = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    rows = [re.split(r"\s{2,}", line) for line in text.splitlines()]
    shown = {row[0]: set(row[1].split()) for row in rows if row[0].isdecimal()}
    assert shown == {str(level): parts for level, parts in enumerate(LAYERS, start=1)}
