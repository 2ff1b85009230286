"""Files of arrays whose writer is killed."""

import os
import signal
import subprocess
import sys

import numpy as np

from kaccess.base.tensors import read_tensors, write_tensors

SCRIPT = """
import os, sys
from pathlib import Path
import numpy as np
from kaccess.base import tensors

def die(arrays, path, **_):
    (Path(path).parent / ".tmp123456").write_text("half")  # as the library does
    os.kill(os.getpid(), 9)

tensors.save_file = die
tensors.write_tensors(Path(sys.argv[1]), "x", {}, {"a": np.ones(3)})
"""


def test_what_the_library_leaves_behind_is_removed(tmp_path):
    file = tmp_path / "x.safetensors"
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(file)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert list(tmp_path.rglob(".tmp123456"))
    write_tensors(file, "x", {"k": 1}, {"a": np.ones(3)})
    assert os.listdir(tmp_path) == ["x.safetensors"]  # noqa: PTH208  # names only
    assert read_tensors(file)[0] == {"k": 1}
