"""Time robots that stay on the GPU: a whole step against its physics alone.

python benchmarks/bench_tensors.py --out benchmarks/results/tensors.json
python benchmarks/bench_tensors.py --sizes 16 --device cpu --n-steps 5

In each run, side by side: the physics alone, whole steps of `TensorRobots`, and those
of `RobotVectorEnv` with the engine warp, which copies states to the host.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
import tyro

from kaccess import load_robot
from kaccess.base.machine import describe_machine
from kaccess.config import EngineConfig
from kaccess.envs import RobotVectorEnv
from kaccess.envs.tasks import make_task
from kaccess.gpu import TensorRobots
from kaccess.robots import Robot


@dataclass(frozen=True)
class Config:
    """Settings of the measurement."""

    robot: str = "bittle"
    """Name of a robot, or path of its file."""
    sizes: tuple[int, ...] = (4096, 16384)
    """Numbers of robots."""
    n_steps: int = 100
    """Control steps in a run, with random actions."""
    kinds: tuple[str, ...] = ("physics", "tensors", "host")
    """What to measure: the physics alone, whole steps, steps by way of the host."""
    repeats: int = 3
    """Runs of each kind, in turns; the median counts."""
    device: str | None = None
    """Device of Warp; by default the first GPU."""
    out: Path | None = None
    """JSON file to write."""


Step = Callable[[int], object]
"""Makes a control step with the actions of that number."""


def make_kinds(
    config: Config, robot: Robot, n: int
) -> dict[str, tuple[Callable[[], object], Step]]:
    """Return how n robots begin, and how they make one control step, by name."""
    task = make_task("fall-recovery", robot)
    env = TensorRobots(n, task, robot, device=config.device)
    shape = (config.n_steps, n, env.act_dim)
    actions = 2 * torch.rand(shape, device=env.device) - 1

    def simulate(number: int) -> None:
        env._command(actions[number])
        env._worlds.step()

    kinds: dict[str, Step] = {
        "physics": simulate,
        "tensors": lambda number: env.step(actions[number]),
    }
    begin: dict[str, Callable[[], object]] = dict.fromkeys(
        kinds, lambda: env.reset(range(n))
    )
    if "host" in config.kinds:
        engine = EngineConfig(engine="warp", device=config.device)
        host = RobotVectorEnv(n, task, robot=robot, engine=engine)
        on_host = actions.cpu().numpy()
        kinds["host"] = lambda number: host.step(on_host[number])
        begin["host"] = lambda: host.reset(seed=0)
    return {name: (begin[name], kinds[name]) for name in config.kinds}


def measure(step: Step, n_steps: int, device: torch.device) -> float:
    """Return the time of a step [s]."""
    step(0)
    _wait(device)
    start = time.perf_counter()
    for number in range(n_steps):
        step(number)
    _wait(device)
    return (time.perf_counter() - start) / n_steps


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


def main(config: Config) -> None:
    robot, runs = load_robot(config.robot), list[dict[str, Any]]()
    device = torch.device(config.device or "cuda")
    print("robots  kind     ms/step  control steps/s  of the first kind")
    for n in config.sizes:
        kinds = make_kinds(config, robot, n)
        runs_of = {name: list[float]() for name in kinds}
        for _ in range(config.repeats):
            for name, (begin, step) in kinds.items():
                begin()  # all kinds from the same states, with the same actions
                runs_of[name].append(measure(step, config.n_steps, device))
        middle = {name: median(each) for name, each in runs_of.items()}
        for name, seconds in middle.items():
            share = middle[config.kinds[0]] / seconds
            runs.append({"robots": n, "kind": name, "seconds": seconds, "share": share})
            rate = n / seconds
            print(f"{n:6}  {name:7}  {1e3 * seconds:7.2f}  {rate:15,.0f}  {share:.0%}")
    if config.out:
        record = {
            "config": asdict(config),
            "machine": describe_machine() | {"device": _name(device)},
            "runs": runs,
        }
        config.out.parent.mkdir(parents=True, exist_ok=True)
        config.out.write_text(json.dumps(record, indent=1, default=str) + "\n")


if __name__ == "__main__":
    main(tyro.cli(Config))
