"""Functions stay short and take few arguments."""

import ast
from pathlib import Path

import kaccess

ROOT = Path(kaccess.__file__).parent
MOST_LINES, MOST_LINES_OF_MOST = 50, 18
MOST_PARAMETERS = 8
# The parameters of a scikit-learn estimator are its settings.
ESTIMATORS = {"cluster/k_access.py: __init__"}
# It takes the settings of each algorithm.
WITH_SETTINGS = {"pipeline.py: train"}


def functions():
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(ROOT)}: {node.name}", node


def n_lines(node):
    """Return the lines of a body without its docstring."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def n_parameters(node):
    names = [each.arg for each in (*node.args.args, *node.args.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def test_functions_are_short():
    lengths = {name: n_lines(node) for name, node in functions()}
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}
    ordered = sorted(lengths.values())
    assert ordered[9 * len(ordered) // 10] <= MOST_LINES_OF_MOST


def test_functions_take_few_arguments():
    many = {name for name, node in functions() if n_parameters(node) > MOST_PARAMETERS}
    assert many <= ESTIMATORS | WITH_SETTINGS
