"""The processes of the `bullet` engine, and robots that it does not support."""

import os
import signal
import subprocess
import sys
import time

import mujoco
import numpy as np
import pytest

pytest.importorskip("pybullet", reason="PyBullet is not installed")

from kaccess import make_engine
from kaccess.base.errors import InputError
from kaccess.engines.bullet import BulletEngine
from kaccess.robots import Robot
from tests.conftest import TINY
from tests.engines.drops import assert_same, random_drops

pytestmark = pytest.mark.bullet


def test_the_number_of_processes_does_not_change_results(bittle):
    qpos, targets = random_drops(bittle, 9)
    alone = BulletEngine(bittle, n_processes=1)
    expected = alone.settle(qpos, targets, time_limit=0.4)
    shared = BulletEngine(bittle, n_processes=2)
    assert_same(shared.settle(qpos, targets, time_limit=0.4), expected)
    assert_same(shared.settle(qpos[:5], targets[:5], time_limit=0.4), first(expected))


def first(settled):
    return type(settled)(settled.qpos[:5], settled.time[:5], settled.diverged[:5])


def test_a_diverged_simulation_affects_no_other(tiny):
    qpos, targets = random_drops(tiny, 4)
    engine = BulletEngine(tiny, n_processes=1)
    whole = engine.settle(qpos, targets, time_limit=1.0)
    qpos[1, 7] = 1e11
    broken = engine.settle(qpos, targets, time_limit=1.0)
    np.testing.assert_array_equal(broken.diverged, [False, True, False, False])
    assert np.isinf(broken.time[1])
    others = [0, 2, 3]
    np.testing.assert_array_equal(broken.qpos[others], whole.qpos[others])
    np.testing.assert_array_equal(broken.time[others], whole.time[others])


# It has no `if __name__ == "__main__"`, and must work without.
SCRIPT = """
import multiprocessing, numpy as np
from kaccess import load_robot
from kaccess.engines.bullet import BulletEngine
robot = load_robot({robot!r})
engine = BulletEngine(robot, n_processes=2)
qpos = np.repeat(robot.standing[None], {n}, axis=0)
qpos[:, 2] = {height}
print("settled", len(engine.settle(qpos[:8], qpos[:8, 7:], time_limit=0.1).qpos))
print("workers", *(child.pid for child in multiprocessing.active_children()))
print(flush=True)
engine.settle(qpos, qpos[:, 7:], time_limit=10.0)
"""


def start_script(tmp_path, *, n, height=0.1):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(robot=str(TINY), n=n, height=height))
    return subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a process group of its own, as in a terminal
    )


def test_a_script_without_main_guard_works_and_prints_nothing_else(tmp_path):
    out, err = start_script(tmp_path, n=8).communicate(timeout=120)
    assert out.splitlines()[0] == "settled 8"
    assert err == ""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent_process(tmp_path, how):
    process = start_script(tmp_path, n=2000, height=50.0)
    assert process.stdout.readline() == "settled 8\n"
    workers = [int(pid) for pid in process.stdout.readline().split()[1:]]
    assert len(workers) == 2
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # as Ctrl-C does
    else:
        process.kill()
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    if how == signal.SIGINT:
        assert err.count("Traceback") == err.count("KeyboardInterrupt") == 1
    deadline = time.monotonic() + 20
    while any(is_alive(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(is_alive(pid) for pid in workers)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_missing_pybullet_is_an_error_with_the_pip_command(tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "pybullet", None)
    with pytest.raises(ImportError, match=r"needs PyBullet.*pip install 'kaccess\[bul"):
        make_engine("bullet", tiny)


PENDULUM = "<body pos='0 0 1'><joint/><geom size='.1' mass='1'/></body>"
EXTRAS = {
    "hfield geom 'hills'": (
        "<geom name='hills' type='hfield' hfield='hills'/>",
        "<asset><hfield name='hills' nrow='3' ncol='3' size='1 1 1 .1'/></asset>",
    ),
    "moving bodies beside": ("", f"<worldbody>{PENDULUM}</worldbody>"),
    "equality constraints": ("", "<equality><joint joint1='leg'/></equality>"),
    "tendons": (
        "",
        "<tendon><fixed><joint joint='leg' coef='1'/></fixed></tendon>",
    ),
    "explicit contact pairs": (
        "",
        "<contact><pair geom1='floor' geom2='foot'/></contact>",
    ),
    "fluid forces": ("", "<option density='1.2'/>"),
    "disabled in": ("", "<option><flag gravity='disable'/></option>"),
    "differ in friction": (
        "<geom name='ice' type='box' size='1 1 .1' friction='3'/>",
        "",
    ),
}
ROBOT = """<mujoco><worldbody><geom name='floor' type='plane' size='0 0 .1'/>{}
<body name='base' pos='0 0 1'>{free}<geom size='.1' mass='1'/><body>{joint}
<geom name='foot' size='.05' pos='0 0 -.2' mass='1'/>{child}</body></body></worldbody>{}
<actuator><position joint='leg' kp='1'/></actuator></mujoco>"""
HINGE = "<joint name='leg' axis='0 1 0'/>"
BALL = "<body><joint name='neck' type='ball'/><geom size='.01' mass='1'/></body>"


def compile_robot(world="", extra="", free="<freejoint/>", child=""):
    xml = ROBOT.format(world, extra, free=free, joint=HINGE, child=child)
    return Robot("strange.xml", mujoco.MjModel.from_xml_string(xml), 1.0)


@pytest.mark.parametrize("feature", EXTRAS)
def test_an_unsupported_feature_is_named(feature):
    with pytest.raises(InputError, match=feature) as error:
        BulletEngine(compile_robot(*EXTRAS[feature]))
    assert str(error.value).endswith("or choose the 'mujoco' engine.")


def test_ball_joints_and_a_damped_base_are_named():
    with pytest.raises(InputError, match="the ball joint 'neck'"):
        BulletEngine(compile_robot(child=BALL))
    with pytest.raises(InputError, match="free joint"):
        BulletEngine(compile_robot(free="<joint type='free' damping='1'/>"))


def test_the_robot_without_these_features_is_supported():
    BulletEngine(compile_robot())
