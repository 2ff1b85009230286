"""Something to do once another package has been imported, whoever imports it."""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

__all__ = ["call_after_import"]


def call_after_import(name: str, function: Callable[[], object]) -> None:
    """Call a function after a package was imported; at once if that is the case."""
    if name in sys.modules:
        function()
    else:
        sys.meta_path.insert(0, _Watcher(name, function))


class _Watcher(MetaPathFinder):
    """Finds one package like everybody else, once, and then calls a function."""

    def __init__(self, name: str, function: Callable[[], object]) -> None:
        self._name, self._function = name, function

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return how to import the package; None for all others."""
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._function)
        return spec


class _Loader(Loader):
    """Loads a package with its own loader, then calls a function."""

    def __init__(self, loader: Loader, function: Callable[[], object]) -> None:
        self._loader, self._function = loader, function

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return a new module."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module."""
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader  # as if not watched
        self._loader.exec_module(module)
        self._function()
