"""Compile MuJoCo Warp's kernels for a GPU on a machine that has none.

python experiments/compile_kernels.py kernels bittle my_robot/scene.xml --arch 90

On the machine with the GPU, `WARP_CACHE_PATH=kernels kaccess train ...` finds them and
begins at once. There the same compilation takes 80 to 210 s per robot. Both machines
need the same versions of Warp and MuJoCo Warp. 90 is the architecture of an H100 or
H200, 89 that of an RTX 4090. Kernels that are missed are compiled there, as usual.

A step is made on Warp's CPU device, while MuJoCo Warp is told that it is a GPU. What it
launches is written down and compiled.
"""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import tyro
import warp as wp

from kaccess import load_robot
from kaccess.engines.warp import WarpEngine
from kaccess.envs.tasks import make_task
from kaccess.gpu import TensorRobots

_FEW = 16  # simulations: kernels do not depend on their number
_Job = tuple[Any, int]  # a module of kernels, and threads in a block


@dataclass(frozen=True)
class Config:
    """Robots, and the GPU to compile for."""

    cache: tyro.conf.Positional[Path]
    """Folder to write to: the later `WARP_CACHE_PATH`."""
    robots: tyro.conf.Positional[tuple[str, ...]]
    """Names or files of robots."""
    arch: int = 90
    """Compute capability of the GPU, times ten."""
    jobs: int = 2
    """Kernels to compile at the same time."""


class PretendedGpu:
    """The CPU device of Warp, which says that it is a GPU."""

    is_cuda, is_cpu, sm_count = True, False, 132

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever it has
        """Return what the CPU device has."""
        return getattr(wp.get_device("cpu"), name)


class Launches:
    """Makes Warp write down what it launches."""

    def __init__(self) -> None:
        self._modules: dict[int, Any] = {}
        self._jobs: dict[tuple[int, int], None] = {}

    @property
    def jobs(self) -> list[_Job]:
        """What must be compiled, in the order in which it was launched."""
        return [(self._modules[module], block) for module, block in self._jobs]

    def _note(self, kernel: Any, block_dim: int | None) -> None:  # noqa: ANN401
        module = kernel.module
        self._modules[id(module)] = module
        self._jobs[id(module), block_dim or module.options["block_dim"]] = None

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Write down all launches within this block, as a GPU would make them."""
        launch, launch_tiled, get_device = wp.launch, wp.launch_tiled, wp.get_device

        def note_launch(kernel: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            self._note(kernel, options.pop("block_dim", None))
            return launch(kernel, *args, **options)

        def note_tiled(kernel: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            self._note(kernel, options.get("block_dim"))
            return launch_tiled(kernel, *args, **options)

        def pretend(name: str | None = None) -> Any:  # noqa: ANN401
            asked_by = sys._getframe(1).f_globals["__name__"]
            is_mujoco = asked_by.startswith("mujoco_warp.")
            return PretendedGpu() if is_mujoco and name is None else get_device(name)

        with patch.multiple(
            wp,
            launch=note_launch,
            launch_tiled=note_tiled,
            get_device=pretend,
            capture_while=_do_once,
        ):
            yield


def _do_once(_: object, while_body: Callable[..., None], **options: Any) -> None:  # noqa: ANN401
    while_body(**options)


def compile_module(job: _Job, arch: int) -> str:
    """Compile a module for a GPU, unless it is there; return what was done."""
    module, block_dim = job
    began = time.perf_counter()
    module.get_module_hash(block_dim)
    options = module.resolve_options(wp.config, block_dim=block_dim)
    done = module._compile(
        None,
        output_arch=arch,
        options=options,
        output_dir=str(
            Path(wp.config.kernel_cache_dir) / module.get_module_identifier(block_dim)
        ),
    )
    seconds = time.perf_counter() - began
    return f"{seconds:5.1f} s" if done else "is there"


def main(config: Config) -> None:
    """Record what all robots launch, and compile it."""
    wp.config.kernel_cache_dir = str(config.cache)
    wp.init()  # which adds the version to that folder
    launches = Launches()
    for name in config.robots:
        robot = load_robot(name)
        with launches.watch():
            TensorRobots(_FEW, make_task("fall-recovery", robot), robot, device="cpu")
            WarpEngine(robot, device="cpu", n_worlds=_FEW)
        print(f"{robot.name}: {len(launches.jobs)} modules so far", flush=True)
    with ThreadPoolExecutor(config.jobs) as pool:
        work = [
            (job, pool.submit(compile_module, job, config.arch))
            for job in launches.jobs
        ]
        for (module, block_dim), done in work:
            print(f"{done.result()}  {module.name}, {block_dim} threads", flush=True)


if __name__ == "__main__":
    main(tyro.cli(Config))
