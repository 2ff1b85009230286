"""Imports files that travel from wherever they have been exported to."""

import importlib.util


def load_file(path):
    """Return a Python file as a module; nothing else can import it."""
    spec = importlib.util.spec_from_file_location(f"{path.stem}_of_{hash(path)}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
