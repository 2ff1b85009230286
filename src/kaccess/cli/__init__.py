"""The command `kaccess`: one subcommand per stage of `kaccess.pipeline`, and some more.

Exit codes: 0 done, 2 bad input (one sentence, nothing changed), 130 interrupted (what
was finished is kept).
"""

# Heavy modules are imported by the command that needs them: `--help` answers at once.

import io
import os
import sys
from typing import NoReturn

import tyro

from kaccess import __version__
from kaccess.cli.looks import compare_engines, export, info, play
from kaccess.cli.stages import (
    access,
    cluster,
    evaluate,
    report,
    run,
    sample,
    search,
    train,
)
from kaccess.console import show_log
from kaccess.errors import InputError
from kaccess.report.headless import prefer_egl_without_screen

__all__ = ["main"]


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    argv = sys.argv[1:] if argv is None else argv
    if argv == ["--version"]:
        print(f"kaccess {__version__}")
        return
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # whatever the terminal knows
    prefer_egl_without_screen()
    show_log()
    try:
        tyro.extras.subcommand_cli_from_dict(
            {
                "run": run,
                "sample": sample,
                "access": access,
                "cluster": cluster,
                "search": search,
                "train": train,
                "evaluate": evaluate,
                "play": play,
                "report": report,
                "export": export,
                "info": info,
                "compare-engines": compare_engines,
            },
            prog="kaccess",
            description="Find good starting states for teaching a legged robot to "
            "move. Stages in order: sample, access, cluster, (search,) train, "
            "evaluate, report.",
            args=argv,
        )
    except (InputError, ImportError) as error:  # or an extra; it gives the pip line
        _exit(2, str(error))
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        _exit(
            2,
            f"{error.strerror or error}{place}. What was stored before is whole; run "
            "the same command again once that is mended.",
        )
    except KeyboardInterrupt:
        _exit(130, "Interrupted. What was stored is kept; run the same command again.")


def _exit(code: int, message: str) -> NoReturn:
    print(f"kaccess: {message}", file=sys.stderr)
    raise SystemExit(code)
