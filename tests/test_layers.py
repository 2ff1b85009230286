"""A module imports only from layers below its own."""

import ast
from pathlib import Path

import kaccess

ROOT = Path(kaccess.__file__).parent
LAYERS = [
    {"compiled", "errors", "files", "types"},
    {"config", "progress", "rotations", "stats", "study", "tensors"},
    {"robots", "cluster", "policy", "starts"},
    {"engines", "shipped"},
    {"machine", "poses", "train"},
    {"access", "stored"},
    {"envs"},
    {"curves", "evaluate", "skill"},
    {"guide"},
    {"learners", "learning"},
    {"report"},
    {"pipeline"},
    {"motions"},
    {"views"},
    {"console", "cli", "__main__"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
# Third-party packages that only one part may know.
ONLY_IN = {
    "torch": {"train"},
    "gymnasium": {"envs", "train"},
    "matplotlib": {"report"},
    "jinja2": {"report"},
    "PIL": {"report"},
    "tyro": {"cli"},
}


def scale_progress(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules():
    return [path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py"]


def test_every_module_has_a_layer():
    assert {scale_progress(path) for path in modules()} <= LEVEL.keys()


def test_imports_go_down():
    wrong = []
    for path in modules():
        part = scale_progress(path)
        for name in imports(path):
            package, _, rest = name.partition(".")
            other = rest.split(".")[0]
            if package != "kaccess" or other not in LEVEL or other == part:
                continue
            same_command = LEVEL[other] == LEVEL[part] == LEVEL["cli"]
            if LEVEL[other] >= LEVEL[part] and not same_command:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert wrong == []


def test_third_party_packages_stay_where_they_belong():
    for path in modules():
        for name in imports(path):
            package = name.split(".")[0]
            assert scale_progress(path) in ONLY_IN.get(
                package, {scale_progress(path)}
            ), path
