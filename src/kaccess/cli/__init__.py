"""The command `kaccess`: one subcommand per function of `kaccess.pipeline`.

Exit codes: 0 done, 1 every learner broke down, 2 bad input (one sentence, nothing
changed), 130 interrupted (finished work is kept).
"""

# Heavy modules are imported by the command that needs them: `--help` answers at once.

import os
import shutil
import sys
from typing import NoReturn

import tyro

from kaccess.base.errors import InputError, TrainingError
from kaccess.base.version import __version__
from kaccess.cli import commands, showing
from kaccess.cli.console import show_log
from kaccess.cli.deploying import deploy
from kaccess.cli.streams import outlive_readers
from kaccess.report.rendering.headless import prefer_egl_without_screen

__all__ = ["main"]

_PITCH = (
    "Measure how fast a legged robot gets from one resting pose to another. The times "
    "form a graph. It shows whether the robot can get up, gives moves that get it up "
    "without learning, and guides learning."
)
_STAGES = (
    "Stages in order: sample, access, grow, (search,) cluster, train, evaluate, report."
)


_FEWEST_COLUMNS = 40  # in a narrower terminal, the writing of help does not end
_SPINS = "1000"  # looks of an idle thread of torch for new work before it sleeps
_LEAST_MEMORY = 600e6  # [bytes] of addresses; with 300e6, OpenBLAS of SciPy hangs
_RESUME = "Files stored before are whole: fix the cause and run the same command again."


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    argv = sys.argv[1:] if argv is None else argv
    if argv == ["--version"]:
        print(f"kaccess {__version__}")
        return
    outlive_readers()
    _require_memory()
    os.environ["MPLBACKEND"] = "agg"  # figures are files, they need no screen
    if shutil.get_terminal_size().columns < _FEWEST_COLUMNS:
        os.environ["COLUMNS"] = str(_FEWEST_COLUMNS)
    prefer_egl_without_screen()
    _let_threads_sleep()
    show_log()
    try:
        _run(argv)
        print(end="", flush=True)  # a full disk is noticed here, not after the exit
    except (InputError, ImportError) as error:  # a missing extra gives its pip line
        _exit(2, str(error))
    except TrainingError as error:
        _exit(1, str(error))
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        _exit(2, f"{error.strerror or error}{place}. {_RESUME}")
    except KeyboardInterrupt:
        _exit(130, "Interrupted. Stored work is kept; run the same command to resume.")
    except Exception as error:
        if not (reason := _blame_machine(error)):
            raise  # a bug: the traceback is of use
        _exit(2, reason)


def _let_threads_sleep() -> None:
    """Let idle threads of torch sleep soon, not spin on cores that others need."""
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)


def _require_memory() -> None:
    """Exit with 2 if `ulimit -v` is so low that OpenBLAS would wait forever."""
    if sys.platform == "win32":
        return
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_MEMORY:
        _exit(
            2,
            f"Not enough memory: `ulimit -v` allows {limit / 1e6:.0f} MB, but at least "
            f"{_LEAST_MEMORY / 1e6:.0f} MB are needed. Raise the limit.",
        )


def _run(argv: list[str]) -> None:
    tyro.extras.subcommand_cli_from_dict(
        {
            "run": commands.run,
            "sample": commands.sample,
            "access": commands.access,
            "grow": commands.grow,
            "cluster": commands.cluster,
            "learn-access": commands.learn_access,
            "search": commands.search,
            "train": commands.train,
            "evaluate": commands.evaluate,
            "play": showing.play,
            "report": showing.report,
            "export": commands.export,
            "info": showing.info,
            "compare-engines": showing.compare_engines,
            "deploy": deploy,
        },
        prog="kaccess",
        description=f"{_PITCH} {_STAGES}",
        args=argv,
    )


def _blame_machine(error: Exception) -> str:
    """Return a sentence on an error of the machine or MuJoCo; empty for others."""
    if "MUJOCO_GL" in str(error):
        return f"MuJoCo cannot start{_add(error)}. Set it to egl, osmesa or glfw."
    lacks = ("allocate memory", "start new thread", "before it is started")
    if isinstance(error, MemoryError) or any(text in str(error) for text in lacks):
        return f"Not enough memory{_add(error)}. {_RESUME}"
    if isinstance(error, _get_simulation_errors()):
        return f"MuJoCo cannot simulate this robot{_add(error)}. {_RESUME}"
    return ""


def _get_simulation_errors() -> tuple[type[Exception], ...]:
    """Return what MuJoCo raises if it fails, such as for lack of memory."""
    mujoco, batch = map(sys.modules.get, ("mujoco", "mujoco.batch"))
    errors = (
        getattr(mujoco, "FatalError", None),
        getattr(batch, "SimulationError", None),
    )
    return tuple(error for error in errors if error is not None)


def _add(error: Exception) -> str:
    """Return a colon and the error in one line; empty if it says nothing."""
    text = " ".join(str(error).split()).rstrip(".")
    return f": {text}" if text else ""


def _exit(code: int, message: str) -> NoReturn:
    print(f"kaccess: {message}", file=sys.stderr)
    raise SystemExit(code)
