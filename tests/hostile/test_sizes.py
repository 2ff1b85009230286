"""Numbers in files that claim huge sizes: a sentence, and no memory taken for them."""

import io
import json
import re
import resource
import shutil
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kaccess import InputError
from kaccess.base.json_files import CHECKSUM
from kaccess.base.npz_files import read_npz
from kaccess.policies import Policy
from tests.hostile.attacks import list_places, put, replace_content, run
from tests.hostile.test_damage import finished

__all__ = ["finished"]

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
pytestmark = pytest.mark.skipif(not CLEAR.exists(), reason="no /proc")

MOST_MEMORY = 300_000  # [kB] that a command may take
MOST_SECONDS = 30.0  # that it may take, on a machine with much else to do
GUARD = 8 * 2**30  # [bytes], so that a failure does not take all memory
COMMANDS = [["info"], ["info", "--check"]]


def read_memory(name):
    """Return the memory of this process now, `VmRSS`, or at most, `VmHWM` [kB]."""
    return int(re.search(rf"{name}:\s+(\d+)", STATUS.read_text())[1])


@pytest.fixture(autouse=True)
def _limit_memory():
    """Fail if more memory is taken than small files need."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = 1024 * read_memory("VmSize") + GUARD
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    CLEAR.write_text("5")  # the peak is measured from here on
    began = read_memory("VmRSS")
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
    assert read_memory("VmHWM") - began < MOST_MEMORY


def enlarge(file, values):
    """Yield a JSON file with a huge value in place of each number."""
    content = json.loads(file.read_text())
    content.pop(CHECKSUM, None)  # else nothing but the checksum would be looked at
    for place in list_places(content):
        number = content
        for key in place:
            number = number[key]
        if isinstance(number, int | float) and not isinstance(number, bool):
            for value in values:
                changed = json.dumps(put(content, place, value))
                yield f"{place} = {value}", changed.encode()


def attack(capsys, study, files, values):
    """Enlarge numbers in files, and return what went wrong, and the number of tries."""
    wrong, tries = [], 0
    for file in files:
        for what, content in enlarge(file, values):
            for command, *flags in COMMANDS:
                began, tries = time.monotonic(), tries + 1
                with replace_content(file, content):
                    code, said = run(capsys, command, study, *flags)
                name = f"{file} ({what}): {flags}"
                if time.monotonic() - began > MOST_SECONDS:
                    wrong.append(f"{name}: {time.monotonic() - began:.0f} s")
                if code and not any(str(each) in said for each in (file, file.parent)):
                    wrong.append(f"{name}: not named in {said}")
    return wrong, tries


@pytest.mark.parametrize("name", ["times", "poses/qpos", "poses/contacts"])
def test_sizes_of_arrays(study, capsys, name):
    wrong, tries = attack(
        capsys, study, [study / "study.zarr" / name / "zarr.json"], [10**5, 10**9]
    )
    assert wrong == [] and tries >= 8


@pytest.mark.hostile
def test_every_number_of_every_json_file(finished, tmp_path, capsys, record_property):
    study = shutil.copytree(finished, tmp_path / "study")
    values = [10**5, 10**9, 10**13, 10**18]
    wrong, tries = attack(capsys, study, sorted(study.rglob("*.json")), values)
    assert wrong == []
    record_property("damaged files", tries)


@pytest.mark.parametrize("n", [10**9, 10**13, 10**18])
def test_a_header_of_npz_that_claims_too_much(tmp_path, n):
    file, head = tmp_path / "x.npz", io.BytesIO()
    entries = {"descr": "<f8", "fortran_order": False, "shape": (n,)}
    np.lib.format.write_array_header_1_0(head, entries)
    with zipfile.ZipFile(file, "w") as content:  # its checksums are right
        content.writestr("x.npy", head.getvalue() + bytes(800))
    with pytest.raises(InputError, match=rf"^{file} is damaged: .* Remedy\."):
        read_npz(file, "Remedy.")


@pytest.mark.parametrize("n", [10**9, 10**13, 10**18])
def test_a_header_of_tensors_that_claims_too_much(trained, tmp_path, n):
    source = trained / "train/fall-recovery/ka/seed-0/policy.safetensors"
    file, content = tmp_path / "policy.safetensors", source.read_bytes()
    damaged = [n.to_bytes(8, "little") + content[8:]]
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    for name in ("shape", "data_offsets"):
        changed = json.loads(json.dumps(header))
        changed["weight 0"][name][-1] = n
        text = json.dumps(changed).encode()
        damaged.append(len(text).to_bytes(8, "little") + text + content[end:])
    for each in damaged:
        file.write_bytes(each)
        with pytest.raises(InputError, match=f"^{file} is damaged"):
            Policy.load(file)


@pytest.mark.parametrize(
    ("entry", "value"), [("feet", [10**9]), ("qpos", [0.0]), ("targets", [])]
)
def test_a_stance_of_another_robot_is_named(study, capsys, entry, value):
    file = study / "study.json"
    content = json.loads(file.read_text())
    del content[CHECKSUM]
    content["loaded"]["stance"][entry] = value
    file.write_text(json.dumps(content))
    code, said = run(capsys, "info", study)
    assert (
        code == 2 and f"{file} is damaged: `{entry.replace('targets', 'qpos')}`" in said
    )
