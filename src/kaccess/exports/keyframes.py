"""States as keyframes of MuJoCo, in an XML file that a model can include."""

from kaccess.base.types import Array

__all__ = ["format_keyframes"]

_NOTE = """\
<!-- Resting states written by kaccess. Put <include file="kaccess_keyframes.xml"/> into
     a model whose only joints are those of the robot, in the same order. -->
"""


def format_keyframes(qpos: Array) -> str:
    """Return states, (k, nq), as XML; numbers keep all their digits."""
    keys = [
        f'    <key name="kaccess-{number}" qpos="{" ".join(map(str, state))}"/>\n'
        for number, state in enumerate(qpos.tolist())
    ]
    return f"{_NOTE}<mujoco>\n  <keyframe>\n{''.join(keys)}  </keyframe>\n</mujoco>\n"
