"""Routes as OpenCat skills, and a chooser that needs only roll and pitch.

Bittle's servos hold what they were told, so after a slow move to the standing posture
the joints are known, and roll and pitch say how the robot lies. Each skill has been
tried from many lying poses (`building`); the chooser takes the one with the highest
share of success around the measured gravity vector.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.files import whole_file
from kaccess.base.json_files import read_json, write_json
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.deploy.angles import find_attitude
from kaccess.deploy.frames import measure_move
from kaccess.deploy.protocol import LEGS, N_JOINTS

__all__ = ["DELAY", "SPEED", "Route", "Skills", "load_shipped", "write_skills"]

SPEED = 250.0  # [deg/s] of BiBoard after `I`: 2 deg in 8 ms (boards.py)
_SPEED_FACTOR = 16  # the same speed in a frame of a skill: 16 / 8 deg in 8 ms
DELAY = 0.05  # [s], unit of a frame's delay
_N_NEAR = 6  # lying poses whose successes are averaged
_HASTE = 0.01  # [1/s], chances that a second is worth
_HOPE = 0.1  # [-], chance of a route where it has not worked: the last resort
_NEAR = 0.15  # [-], distance of gravity vectors at which a weight is halved
_SHIPPED = Path(__file__).parent / "bittle-skills.json"


@dataclass(frozen=True)
class Route:
    """A route to standing: postures with times.

    Args:
        degrees: (k, 8) angles of the joints 8 to 15 [deg]; the last ones stand.
        hold: (k,) time after each move [s], in steps of 50 ms.
        triggers: (k, 2) axis and angle that the body turns past in each move: 1 for
            pitch, 2 for roll, signed by the direction, and [deg]; 0 for none.
    """

    degrees: IntArray
    hold: Array
    triggers: IntArray

    @property
    def seconds(self) -> float:
        """Time of the whole route, from the standing posture [s]."""
        way = np.concatenate([self.degrees[-1:], self.degrees])
        moves = measure_move(way[:-1], way[1:], SPEED)
        return float(moves.sum() + self.hold.sum())

    def mirror(self) -> "Route":
        """Return the same route with left and right exchanged."""
        swap = np.array([1, 0, 3, 2, 5, 4, 7, 6])
        is_roll = np.abs(self.triggers[:, :1]) == 2
        triggers = np.where(is_roll, -self.triggers, self.triggers)
        return Route(self.degrees[:, swap], self.hold, triggers)

    def to_array(self, *, triggers: bool = False) -> list[int]:
        """Return the route as a behaviour in OpenCat's files.

        Its first frame is the standing posture, in which the robot is already: the
        firmware goes there at a speed of its own.

        Args:
            triggers: Whether frames wait for the body to turn. Not on NyBoard: its
                firmware would wait for ever.
        """
        frames = [_make_frame(self.degrees[-1], 0.0, (0, 0))]
        for degrees, hold, trigger in zip(
            self.degrees, self.hold, self.triggers.tolist(), strict=True
        ):
            frames.append(_make_frame(degrees, hold, trigger if triggers else (0, 0)))
        header = [-len(frames), 0, 0, 1, 0, 0, 0]
        return [*header, *(number for frame in frames for number in frame)]


def _make_frame(degrees: IntArray, hold: float, trigger: Any) -> list[int]:  # noqa: ANN401  # two numbers
    """Return 16 angles, speed, delay, trigger axis and angle of a frame."""
    rest = [0] * (N_JOINTS - len(LEGS))
    delay = round(hold / DELAY)
    return [*rest, *map(int, degrees), _SPEED_FACTOR, delay, *map(int, trigger)]


@dataclass(frozen=True)
class Skills:
    """Routes from all lying poses, and where each of them works.

    Args:
        routes: m routes.
        gravity: (n, 3) gravity of lying poses, after a slow move to standing.
        works: (n, m) whether a route gets the robot up from there.
        postures: (p, 8) joint angles of resting poses [deg], for `--check`.
        source: Where they are from.
    """

    routes: tuple[Route, ...]
    gravity: Array
    works: BoolArray
    postures: IntArray
    source: str

    def choose(self, gravity: Array, tried: dict[int, int] | None = None) -> int:
        """Return the number of the route with the best chances.

        Args:
            gravity: (3,) gravity in the body frame.
            tried: How often routes were tried before, in vain, by number.
        """
        chances = self.rate(gravity[None])[0] + _HOPE - self._cost
        for route, times in (tried or {}).items():
            chances[route] -= 0.5 * times
        return int(chances.argmax())

    def rate(self, gravity: Array) -> Array:
        """Return the chances of all routes, (b, m), with gravity vectors, (b, 3)."""
        distance = np.linalg.norm(self.gravity[None] - gravity[:, None], axis=2)
        near = np.argsort(distance, axis=1, kind="stable")[:, :_N_NEAR]
        far = np.take_along_axis(distance, near, axis=1)
        weight = 1 / (1 + (far / _NEAR) ** 2)
        weight /= weight.sum(axis=1, keepdims=True)
        return np.asarray(np.einsum("bk,bkm->bm", weight, self.works[near]))

    @property
    def _cost(self) -> Array:
        """What the time of each route counts for, (m,): of equals, the fastest."""
        return np.array([_HASTE * route.seconds for route in self.routes])

    @property
    def labels(self) -> IntArray:
        """Route that is chosen in each lying pose, (n,)."""
        return np.asarray((self.rate(self.gravity) - self._cost).argmax(axis=1))

    @property
    def share(self) -> float:
        """Share of lying poses from which the chosen route works at once."""
        return float(self.works[np.arange(len(self.works)), self.labels].mean())

    @property
    def moves(self) -> IntArray:
        """Postures to command in a check, (k, 8) [deg]: poses, and steps of routes."""
        steps = [route.degrees for route in self.routes]
        return np.unique(np.concatenate([self.postures, *steps]), axis=0)

    def save(self, path: Path) -> None:
        """Write them to a file."""
        routes = [vars(route) for route in self.routes]
        gravity = np.round(self.gravity, 4)
        works = self.works.astype(int)
        write_json(
            path, {**vars(self), "routes": routes, "gravity": gravity, "works": works}
        )

    @classmethod
    def load(cls, path: Path) -> "Skills":
        """Read what `save` wrote."""
        content = read_json(path, "Install kaccess again.")
        routes = [
            Route(
                np.array(each["degrees"], np.int64),
                np.array(each["hold"], float),
                np.array(each["triggers"], np.int64),
            )
            for each in content["routes"]
        ]
        return cls(
            tuple(routes),
            np.array(content["gravity"], float),
            np.array(content["works"], bool),
            np.array(content["postures"], np.int64),
            content["source"],
        )


def load_shipped() -> Skills:
    """Return the skills that come with the package, made from a study of Bittle."""
    return Skills.load(_SHIPPED)


def write_skills(skills: Skills, folder: Path) -> list[Path]:
    """Write each route as an OpenCat skill, and a table of when to use which.

    The files `*.h` have the arrays of OpenCat's InstinctBittleESP.h, in which names
    with `rl` run without interruption on the back; `*.txt` has the numbers after `K`.
    """
    paths = []
    rows = ["skill  poses  roll from..to  pitch from..to  works from"]
    labels = skills.labels
    for number, route in enumerate(skills.routes):
        name, mine = f"krl{number}", labels == number
        numbers = route.to_array(triggers=True)
        paths += [_write(folder / f"{name}.h", _format_array(name, numbers))]
        plain = " ".join(map(str, route.to_array()))
        paths += [_write(folder / f"{name}.txt", f"K {plain}\n")]
        rows.append(_format_row(name, skills.gravity[mine], skills.works[mine, number]))
    paths.append(_write(folder / "skills.txt", "\n".join(rows) + "\n"))
    return paths


def _write(path: Path, text: str) -> Path:
    with whole_file(path) as draft:
        draft.write_text(text)
    return path


def _format_array(name: str, numbers: list[int]) -> str:
    """Return an array in the layout of OpenCat's files; large angles are halved."""
    size = N_JOINTS + 4
    header, rows = numbers[:7], np.reshape(numbers[7:], (-1, size))
    if np.abs(rows[:, :N_JOINTS]).max() > 125:
        header[3] = 2
        rows[:, :N_JOINTS] = np.rint(rows[:, :N_JOINTS] / 2)
    lines = [
        f"const int8_t {name}[] PROGMEM = {{",
        f"{', '.join(map(str, header[:4]))},",
        f" {', '.join(map(str, header[4:]))},",
        *(f"  {', '.join(f'{each:4d}' for each in row)}," for row in rows),
        "};",
    ]
    return "\n".join(lines) + "\n"


def _format_row(name: str, gravity: Array, works: BoolArray) -> str:
    if not len(gravity):
        return f"{name:6s} {0:5d}  only where others have failed"
    attitudes = [find_attitude(each) for each in gravity]
    roll = [round(each.roll) for each in attitudes]
    pitch = [round(each.pitch) for each in attitudes]
    return (
        f"{name:6s} {len(gravity):5d}  {min(roll):+4d}..{max(roll):+4d}     "
        f"{min(pitch):+4d}..{max(pitch):+4d}      {works.sum()} of {len(works)}"
    )
