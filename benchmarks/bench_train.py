"""Time our SAC and that of Stable-Baselines3, in turns.

python benchmarks/bench_train.py --out benchmarks/results/train.json
"""

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import torch
import tyro
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from kaccess.config import SacConfig
from kaccess.sac import Plan
from kaccess.sac.cpu import tune_cpu
from kaccess.sac.run import Run
from kaccess.sac.vector import Envs


@dataclass(frozen=True)
class Config:
    """Settings of the measurement."""

    env: str = "Pendulum-v1"
    """Environment of Gymnasium; its own vector version is used if it has one."""
    env_options: str = "{}"
    """Arguments of the environment, as JSON."""
    learners: tuple[int, ...] = (1, 2, 6, 18)
    """Sizes of the population."""
    sizes: tuple[int, ...] = (128, 256)
    """Units of both hidden layers, and size of a batch."""
    envs_per_learner: int = 1
    """Environments of each learner; each step of each is followed by an update."""
    device: str = "cpu"
    """Device of our learners."""
    seconds: float = 3.0
    """Time of each measurement [s]."""
    repeats: int = 2
    """Repeats, in turns; the fastest of each kind counts."""
    sb3: bool = True
    """Whether to measure Stable-Baselines3, with one learner."""
    out: Path | None = None
    """JSON file to write."""
    imports: tuple[str, ...] = field(default=())
    """Modules to import first, for example to register environments."""


@dataclass(frozen=True)
class Result:
    """Speed, and how the time is spent."""

    updates_per_s: float
    """Updates of all learners together, environments included."""
    env_share: float
    """Share of the time in the environments."""
    exchange_share: float = 0.0
    """Share of the time in exchanges; on a GPU with the wait for the update."""
    update_share: float = 0.0
    """Share of the time in updates; on a GPU only their launch."""


WARM_UP = 100  # steps that are not timed: they fill memory and caches


def make_env(config: Config, n_envs: int) -> "VectorEnv[Any, Any, Any]":
    options = json.loads(config.env_options)
    if gymnasium.spec(config.env).vector_entry_point:
        return gymnasium.make_vec(config.env, num_envs=n_envs, **options)
    makers = [lambda: gymnasium.make(config.env, **options)] * n_envs
    return SyncVectorEnv(makers, autoreset_mode=AutoresetMode.SAME_STEP)


def measure(config: Config, n_learners: int, size: int) -> Result:
    """Measure a population of our learners."""
    n_envs = n_learners * config.envs_per_learner
    envs = Envs(make_env(config, n_envs), n_envs)
    settings = SacConfig(
        hidden=(size, size),
        batch_size=size,
        warmup_steps=WARM_UP // 2,
        envs_per_learner=config.envs_per_learner,
    )
    names = [str(p) for p in range(n_learners)]
    plan = Plan(names, range(n_learners), n_steps=1_000_000)
    run = Run(envs, settings, plan, device=config.device)
    parts = [
        _time_calls(envs, "step"),
        _time_calls(run.population, "exchange"),
        _time_calls(run.population, "update"),
    ]
    with tune_cpu(run.population):
        while run.step < WARM_UP:
            run.advance()
        for times in parts:
            times.clear()
        rate = _measure_rate(run.advance, config.seconds)
    assert run.alive.all()
    return Result(rate * n_envs, *(sum(times) / config.seconds for times in parts))


def measure_sb3(config: Config, size: int) -> Result:
    """Measure one learner of Stable-Baselines3."""
    from stable_baselines3 import SAC

    began, n = 0.0, 0

    def is_not_over(*_: object) -> bool:
        nonlocal began, n
        n += 1
        if n == WARM_UP:
            began = time.perf_counter()
        return n < WARM_UP or time.perf_counter() - began < config.seconds

    env = gymnasium.make(config.env, **json.loads(config.env_options))
    inside = _time_calls(env, "step")
    learner = SAC(
        "MlpPolicy",
        env,
        gamma=SacConfig().gamma,
        batch_size=size,
        learning_starts=WARM_UP // 2,
        buffer_size=SacConfig().capacity,
        policy_kwargs={"net_arch": [size, size]},
        device="cpu",
    )
    learner.learn(10**9, callback=is_not_over)
    seconds = time.perf_counter() - began
    return Result((n - WARM_UP) / seconds, sum(inside[WARM_UP:]) / seconds)


def _time_calls(owner: Any, name: str) -> list[float]:  # noqa: ANN401
    """Wrap a method; return the list to which each call adds its time [s]."""
    times: list[float] = []
    method = getattr(owner, name)

    def timed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        began = time.perf_counter()
        result = method(*args, **kwargs)
        times.append(time.perf_counter() - began)
        return result

    setattr(owner, name, timed)
    return times


def _measure_rate(function: Callable[[], object], seconds: float) -> float:
    """Return the calls of a function per second."""
    n, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        function()
        n += 1
    return n / (time.perf_counter() - began)


def measure_all(config: Config) -> dict[tuple[int, str], Result]:
    """Return the fastest result of each size and population."""
    best: dict[tuple[int, str], Result] = {}
    for _ in range(config.repeats):
        for size in config.sizes:
            runs = {f"{p}": measure(config, p, size) for p in config.learners}
            if config.sb3:
                runs["SB3, 1"] = measure_sb3(config, size)
            for who, run in runs.items():
                known = best.setdefault((size, who), run)
                if run.updates_per_s > known.updates_per_s:
                    best[size, who] = run
    return best


def show(config: Config, best: dict[tuple[int, str], Result]) -> None:
    print(f"{config.env}, {config.device}: learner-updates/s, environments included")
    print("   size  learners  updates/s  x SB3     env  exchange  update")
    for (size, who), run in best.items():
        sb3 = best.get((size, "SB3, 1"))
        times = f"{run.updates_per_s / sb3.updates_per_s:5.1f}" if sb3 else "    -"
        print(
            f"2 x {size:3d}  {who:>8}  {run.updates_per_s:9.0f}  {times}  "
            f"{run.env_share:6.1%}  {run.exchange_share:8.1%}  {run.update_share:6.1%}"
        )


def save(config: Config, best: dict[tuple[int, str], Result], out: Path) -> None:
    record = {
        "config": asdict(config),
        "machine": f"{platform.platform()}, {os.cpu_count()} CPUs",
        "torch": f"{torch.__version__}, {torch.get_num_threads()} threads",
        "runs": [
            {"size": size, "learners": who, **asdict(run)}
            for (size, who), run in best.items()
        ],
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(record, indent=2, default=str) + "\n")


def main(config: Config) -> None:
    for module in config.imports:
        __import__(module)
    best = measure_all(config)
    show(config, best)
    if config.out:
        save(config, best, config.out)


if __name__ == "__main__":
    main(tyro.cli(Config))
