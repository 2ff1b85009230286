"""The controller that sends routes as skills, chosen by roll and pitch."""

from dataclasses import dataclass

import numpy as np

from kaccess.base.errors import InputError
from kaccess.deploy.frames import measure_move
from kaccess.deploy.protocol import Note, encode_skill
from kaccess.deploy.session import Session, echoed
from kaccess.deploy.skills import SPEED, Route, Skills

__all__ = ["Outcome", "follow_routes", "is_up"]

_UP = np.cos(np.deg2rad(15.0))  # largest tilt of a robot that stands
_FLIPPED = 80.0  # [deg] of roll; from 85 on, skills are interrupted
_LISTEN = 0.05  # [s]
_TRIGGER = 2.0  # [s], longest wait for a trigger
_MARGIN = 1.5  # [s], for latency


@dataclass(frozen=True)
class Outcome:
    """How a deployment ended.

    Args:
        up: Whether the robot stands, as far as the IMU shows.
        text: The outcome in words.
        attempts: Routes that were tried.
    """

    up: bool
    text: str
    attempts: int = 0


def is_up(session: Session) -> bool:
    """Return whether the body is level; with standing joints, the robot then stands."""
    return bool(-session.gravity[2] > _UP)


def follow_routes(session: Session, skills: Skills, *, attempts: int) -> Outcome:
    """Get a robot up by routes, each chosen by how it lies.

    Before each route the robot moves slowly to the standing posture, so that its joints
    are known. Lying on its belly, that gets it up already.

    Args:
        session: Session with the robot.
        skills: Routes to choose from.
        attempts: How many routes are tried at most.
    """
    stand = session.robot.standing_targets
    session.move_slowly(stand)
    tried: dict[int, int] = {}
    for attempt in range(attempts + 1):
        session.await_rest()
        if is_up(session):
            return Outcome(True, _describe_success(session, attempt), attempt)
        if attempt == attempts:
            break
        number = skills.choose(session.gravity, tried)
        tried[number] = tried.get(number, 0) + 1
        session.note(
            f"route {number}, at roll {session.attitude.roll:.0f} and pitch "
            f"{session.attitude.pitch:.0f} deg"
        )
        _play(session, skills.routes[number])
        session.move_slowly(stand)
    return Outcome(
        False, f"The robot does not stand after {attempts} routes.", attempts
    )


def _describe_success(session: Session, attempt: int) -> str:
    routes = f"{attempt} route" + ("" if attempt == 1 else "s")
    how = f"after {routes}" if attempt else "without any route"
    return f"The robot stands {how}, {session.now:.1f} s after the start."


def _play(session: Session, route: Route) -> None:
    """Let the board play a route as a skill, or send its postures one by one.

    BiBoard ends a skill at once if the robot lies on its back, so there the computer
    sends the postures: they move at the same speed.
    """
    flipped = abs(session.attitude.roll) > _FLIPPED
    if not session.board.streams_without_balance and flipped:
        raise InputError(
            "NyBoard's firmware does not read its IMU while its own reactions are off, "
            "and performs its own recovery while they are on. Turn the robot off its "
            "back, or use a BiBoard."
        )
    if session.board.interrupts_flipped and flipped:
        _send_postures(session, route)
    else:
        _send_skill(session, route)
    session.target = session.angles.to_radians(route.degrees[-1])


def _send_postures(session: Session, route: Route) -> None:
    for degrees, hold in zip(route.degrees, route.hold, strict=True):
        before = session.angles.to_degrees(session.target)
        moving = float(measure_move(before, degrees, SPEED))
        session.command(session.angles.to_radians(degrees))
        _wait(session, moving + hold)


def _wait(session: Session, seconds: float) -> None:
    end = session.now + seconds
    while session.now < end:
        session.pause(min(_LISTEN, end - session.now))


def _send_skill(session: Session, route: Route) -> None:
    """Send a route as a skill, and wait until the board says that it is done."""
    triggers = session.board.trigger_timeout is not None
    session.send(encode_skill(route.to_array(triggers=triggers)))
    session.log.add(session.now, target=route.degrees[0].tolist())
    n_triggers = int((route.triggers[:, 0] != 0).sum()) if triggers else 0
    longest = route.seconds + n_triggers * _TRIGGER + _MARGIN
    end, echoes = session.now + longest, 0
    while session.now < end:
        heard = session.pause(_LISTEN, silent=longest, asks=False)
        echoes += echoed(heard, "K") + 2 * echoed(heard, "k")
        texts = [each.text for each in heard if isinstance(each, Note)]
        if any("interrupted" in text for text in texts):
            session.note("the board interrupted the skill")
            return
        if echoes >= 2:  # once when it is loaded, once when it is done
            return
