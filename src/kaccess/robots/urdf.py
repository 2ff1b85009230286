"""URDF files as MuJoCo specs.

MuJoCo reads URDF, but few files as they are: it welds the root link to the world, knows
no ROS packages, and refuses moving links without mass. So the file is rewritten first.
Each change that affects the robot gets a note. Only collision shapes are kept.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array
from kaccess.robots.named import MESHES, find_mesh, list_some, load_mesh

__all__ = ["read_urdf"]

_SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh")
_COMPILER = {
    "balanceinertia": "true",
    "discardvisual": "false",  # visual shapes are removed here; later ones are kept
    "fusestatic": "true",  # a massless link is joined with what is fixed to it
    "strippath": "false",
}
_DENSITY = 1000.0  # [kg/m3], water; for links that have mass but no inertia
_LEAST_MASS = 1e-6  # [kg]; some files write less for frames without mass
_SMALL = 1e-3  # mass of a massless moving link as a share of the robot's mass
_NOTED = 0.01  # a change of inertia by a smaller share than this gets no note
_AXES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_ENDS = ("parent", "child")


@dataclass
class _Urdf:
    """A URDF that is being rewritten."""

    path: Path
    robot: ET.Element
    notes: list[str] = field(default_factory=list)
    meshes: dict[Path, str] = field(default_factory=dict)
    """Names that mesh files have in the rewritten URDF."""
    has_mass: bool = True

    @property
    def links(self) -> dict[str, ET.Element]:
        return {link.get("name", ""): link for link in self.robot.findall("link")}

    @property
    def joints(self) -> list[ET.Element]:
        return self.robot.findall("joint")

    def note(self, text: str, names: Iterable[str]) -> None:
        """Add a note that ends with names, if there are any."""
        if listed := list_some(names):
            self.notes.append(f"{text}: {listed}.")

    def refuse(self, reason: str) -> InputError:
        return InputError(f"{self.path} is not a usable URDF: {reason}.")


def read_urdf(path: Path) -> tuple[mujoco.MjSpec, tuple[str, ...]]:
    """Read a URDF as a robot that is free to move.

    Returns:
        The spec, and one sentence for each change that affects the robot.

    Raises:
        InputError: If the file is no URDF, is xacro, is not a tree, or none of its
            collision shapes can be read.
        ValueError: If MuJoCo refuses the rewritten file.
    """
    urdf = _Urdf(path, _parse(path))
    _check_tree(urdf)
    _choose_shapes(urdf)
    _place_meshes(urdf)
    _fix_limits(urdf)
    _fix_mimics(urdf)
    _drop_extras(urdf)
    _free_base(urdf)
    _fix_inertias(urdf)
    spec = mujoco.MjSpec.from_string(ET.tostring(urdf.robot, encoding="unicode"))
    files = {name: file for file, name in urdf.meshes.items()}
    for mesh in spec.meshes:
        load_mesh(mesh, files[mesh.file])
        if urdf.has_mass:  # else it follows from the volume, which flat meshes lack
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    return spec, tuple(urdf.notes)


def _parse(path: Path) -> ET.Element:
    content = path.read_bytes().removeprefix(b"\xef\xbb\xbf").strip()
    try:
        robot = ET.fromstring(content)
    except ET.ParseError as error:
        if b"<xacro:" in content:
            raise _refuse_xacro(path) from error
        raise InputError(f"{path} is not valid XML: {error}.") from error
    for part in robot.iter():
        if "xacro" in part.tag or any("$" in value for value in part.attrib.values()):
            raise _refuse_xacro(path)
    return robot


def _refuse_xacro(path: Path) -> InputError:
    return InputError(
        f"{path} is a xacro file, not a URDF: expand it first with "
        f"`xacro {path.name} -o robot.urdf` (ROS, or `pip install xacro`)."
    )


# The tree of links


def _get_link(joint: ET.Element, end: str) -> str:
    """Return the name of a joint's `parent` or `child`."""
    part = joint.find(end)
    return "" if part is None else part.get("link", "")


def _check_tree(urdf: _Urdf) -> None:
    links = [link.get("name", "") for link in urdf.robot.findall("link")]
    ends = [_get_link(joint, end) for joint in urdf.joints for end in _ENDS]
    children = ends[1::2]
    roots = [name for name in links if name not in children]
    if not links:
        raise urdf.refuse("it has no links")
    if twice := [name for name in links if links.count(name) > 1]:
        raise urdf.refuse(f"two links are called {twice[0]!r}")
    if unknown := [name for name in ends if name not in links]:
        raise urdf.refuse(f"a joint connects the link {unknown[0]!r}, which is missing")
    if twice := [name for name in children if children.count(name) > 1]:
        raise urdf.refuse(f"the link {twice[0]!r} is the child of two joints")
    if len(roots) != 1:
        raise urdf.refuse(f"{len(roots)} of its links have no parent, instead of one")


def _find_root(urdf: _Urdf) -> str:
    children = {_get_link(joint, "child") for joint in urdf.joints}
    return next(name for name in urdf.links if name not in children)


def _drop_extras(urdf: _Urdf) -> None:
    """Keep links, joints, each with one axis and limit, and MuJoCo's options."""
    extension = ET.Element("mujoco")
    for part in urdf.robot.findall("mujoco"):
        extension.extend([child for child in part if child.tag in ("option", "size")])
    ET.SubElement(extension, "compiler", _COMPILER)
    for part in list(urdf.robot):
        if part.tag not in ("link", "joint"):
            urdf.robot.remove(part)
    for joint in urdf.joints:  # MuJoCo refuses what is said twice
        for child in list(joint):
            if child is not joint.find(child.tag):
                joint.remove(child)
    urdf.robot.insert(0, extension)


def _free_base(urdf: _Urdf) -> None:
    """Put a free joint between the world and the first link that is no mere frame."""
    root, joint = _find_root(urdf), None
    while (below := _find_frame_joint(urdf, root)) is not None:
        root, joint = _get_link(below, "child"), below
    if any(joint.get("type") == "floating" for joint in _list_joints(urdf, root)):
        return
    if joint is None:
        joint = ET.SubElement(urdf.robot, "joint", name="free_base")
        ET.SubElement(urdf.robot, "link", name="fixed_base")
        ET.SubElement(joint, "parent", link="fixed_base")
        ET.SubElement(joint, "child", link=_avoid_world(urdf, root))
    joint.set("type", "floating")
    urdf.notes.append("A free joint was added to its fixed base.")


def _list_joints(urdf: _Urdf, parent: str) -> list[ET.Element]:
    return [joint for joint in urdf.joints if _get_link(joint, "parent") == parent]


def _find_frame_joint(urdf: _Urdf, root: str) -> ET.Element | None:
    """Return the fixed joint below a root without mass and shapes, if it is alone."""
    link, joints = urdf.links[root], _list_joints(urdf, root)
    is_frame = link.find("collision") is None and _get_mass(urdf, link) <= 0
    is_alone = len(joints) == 1 and joints[0].get("type") == "fixed"
    return joints[0] if is_frame and is_alone else None


def _avoid_world(urdf: _Urdf, root: str) -> str:
    """Rename the root if it has the name of MuJoCo's world."""
    if root != "world":
        return root
    for parent in urdf.robot.findall("joint/parent[@link='world']"):
        parent.set("link", "world_link")
    urdf.links[root].set("name", "world_link")
    return "world_link"


# Shapes


def _choose_shapes(urdf: _Urdf) -> None:
    """Remove visual shapes, or let them collide if there is nothing else."""
    use_visuals = urdf.robot.find("link/collision") is None
    for link in urdf.links.values():
        for visual in link.findall("visual"):
            if use_visuals:
                visual.tag = "collision"
            else:
                link.remove(visual)
    if urdf.robot.find("link/collision") is None:
        urdf.notes.append("It has no shapes, so it cannot touch anything.")
    elif use_visuals:
        urdf.notes.append("It has no collision shapes: its visual shapes collide.")


def _place_meshes(urdf: _Urdf) -> None:
    """Find the mesh files, and remove shapes that cannot be read."""
    dropped: dict[str, list[str]] = {"were not found": [], "MuJoCo cannot read": []}
    for link in urdf.links.values():
        for collision in link.findall("collision"):
            shape = collision.find("geometry/*")
            problem = _place_shape(urdf, shape)
            if problem is not None:
                link.remove(collision)
                file = None if shape is None else shape.get("filename", shape.tag)
                dropped[problem].append(file or "empty")
    if any(dropped.values()) and urdf.robot.find("link/collision") is None:
        raise urdf.refuse(_explain_shapes(*dropped.values()))
    for problem, names in dropped.items():
        files = dict.fromkeys(name.rsplit("/")[-1] for name in names)
        urdf.note(f"Collision shapes that {problem} are left out", files)


def _place_shape(urdf: _Urdf, shape: ET.Element | None) -> str | None:
    """Find and name the mesh file of a shape; return what is wrong with it, if any."""
    if shape is None or shape.tag not in _SHAPES:
        return "MuJoCo cannot read"
    if shape.tag != "mesh":
        return None
    compiler = urdf.robot.find("mujoco/compiler")
    folder = "" if compiler is None else compiler.get("meshdir", "")
    name, above = shape.get("filename", ""), urdf.path.parent
    file = find_mesh(name, above / folder) or find_mesh(name, above)
    if file is None:
        return "were not found"
    if file.suffix.lower() not in MESHES:
        return "MuJoCo cannot read"
    stem = re.sub(r"\W", "_", file.stem)
    new = f"{stem}_{len(urdf.meshes)}{file.suffix.lower()}"
    shape.set("filename", urdf.meshes.setdefault(file, new))
    return None


def _explain_shapes(missing: list[str], unreadable: list[str]) -> str:
    if missing:
        return (
            f"{len(missing)} of its mesh files are missing, first {missing[0]}; put "
            "them beside the URDF, or their package's folder in ROS_PACKAGE_PATH"
        )
    return (
        f"MuJoCo reads none of its collision shapes, first {unreadable[0]}; convert "
        "the meshes to .stl or .obj, with the same names in the same folder"
    )


# Joints


def _fix_limits(urdf: _Urdf) -> None:
    """Repair limits: MuJoCo ignores equal ones, and accepts reversed ones."""
    unlimited, reversed_ = [], []
    for endless in urdf.robot.findall("joint/limit[@effort='inf']"):
        del endless.attrib["effort"]
    for joint in urdf.joints:
        limit = joint.find("limit")
        if limit is None or joint.get("type") not in ("revolute", "prismatic"):
            continue
        low, high = (_read_number(urdf, limit, key) for key in ("lower", "upper"))
        if low > high:
            limit.attrib.update(lower=str(high), upper=str(low))
            reversed_.append(joint.get("name", ""))
        elif low == high:
            limit.attrib.pop("lower", None)
            limit.attrib.pop("upper", None)
            unlimited.append(joint.get("name", ""))
    urdf.note("Joints without a range are unlimited", unlimited)
    urdf.note("Joints with a reversed range were turned round", reversed_)


def _fix_mimics(urdf: _Urdf) -> None:
    """Remove relations to joints that are fixed or missing."""
    joints = [joint for joint in urdf.joints if joint.get("type") != "fixed"]
    moving = {joint.get("name") for joint in joints}
    dropped = []
    for joint in urdf.joints:
        for mimic in joint.findall("mimic"):
            if not {joint.get("name"), mimic.get("joint")} <= moving:
                joint.remove(mimic)
                dropped.append(joint.get("name", ""))
    urdf.note("Joints that mimic a fixed or missing joint are independent", dropped)


# Masses


def _fix_inertias(urdf: _Urdf) -> None:
    """Write every link's mass and inertia, so that MuJoCo derives none from shapes."""
    total = sum(_get_mass(urdf, link) for link in urdf.links.values())
    urdf.has_mass = total > 0
    if not urdf.has_mass:
        urdf.notes.append("It has no masses: those of its shapes, as water, are used.")
        for link in urdf.links.values():
            for inertial in link.findall("inertial"):
                link.remove(inertial)
        return
    massless = _find_massless(urdf)
    repaired = []
    for name, link in urdf.links.items():
        mass = _SMALL * total if name in massless else _get_mass(urdf, link)
        before = _get_inertia(urdf, link)
        after = _repair_inertia(mass, before)
        _write_inertial(link, mass, after)
        change = np.abs(after - before).max() > _NOTED * np.abs(after).max()
        if change and mass > 0 and name not in massless:
            repaired.append(name)
    urdf.note("Moving links without mass got 0.1 % of the robot's mass", massless)
    urdf.note("Links with an impossible inertia got the nearest possible one", repaired)


def _find_massless(urdf: _Urdf) -> list[str]:
    """Return the moving links that have no mass, nor has anything fixed to them."""

    def weigh(name: str) -> float:
        below = [j for j in _list_joints(urdf, name) if j.get("type") == "fixed"]
        own = _get_mass(urdf, urdf.links[name])
        return own + sum(weigh(_get_link(joint, "child")) for joint in below)

    joints = [joint for joint in urdf.joints if joint.get("type") != "fixed"]
    moving = [_get_link(joint, "child") for joint in joints]
    return [name for name in moving if weigh(name) <= 0]


def _get_mass(urdf: _Urdf, link: ET.Element) -> float:
    mass = link.find("inertial/mass")
    value = 0.0 if mass is None else _read_number(urdf, mass, "value")
    return value if value > _LEAST_MASS else 0.0


def _get_inertia(urdf: _Urdf, link: ET.Element) -> Array:
    """Return the (3, 3) inertia of a link, zeros if it has none."""
    found = link.find("inertial/inertia")
    part = ET.Element("inertia") if found is None else found
    xx, xy, xz, yy, yz, zz = (_read_number(urdf, part, axes) for axes in _AXES)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _repair_inertia(mass: float, inertia: Array) -> Array:
    """Return the inertia of a solid body: positive, no axis above the sum of others.

    A body that has mass but no inertia gets that of a ball of water.
    """
    if mass <= 0:
        return np.zeros((3, 3))
    values, vectors = np.linalg.eigh(inertia)
    if values[0] > 0 and values[0] + values[1] >= values[2]:
        return inertia
    if values[2] <= 0:
        radius = (3 * mass / (4 * np.pi * _DENSITY)) ** (1 / 3)
        return np.diag(np.full(3, 0.4 * mass * radius**2))
    values = np.maximum(values, _SMALL * values[2])
    lack = max(0.0, values[2] - values[0] - values[1])
    values[:2] += 0.5 * lack + 1e-6 * values[2]
    repaired: Array = vectors @ np.diag(values) @ vectors.T
    return repaired


def _write_inertial(link: ET.Element, mass: float, inertia: Array) -> None:
    origin = link.find("inertial/origin")
    for inertial in link.findall("inertial"):
        link.remove(inertial)
    inertial = ET.SubElement(link, "inertial")
    if origin is not None:
        inertial.append(origin)
    ET.SubElement(inertial, "mass", value=repr(float(mass)))
    values = map(repr, inertia[np.triu_indices(3)].tolist())
    ET.SubElement(inertial, "inertia", dict(zip(_AXES, values, strict=True)))


def _read_number(urdf: _Urdf, part: ET.Element, key: str) -> float:
    text = part.get(key, "0")
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise urdf.refuse(f"<{part.tag} {key}={text!r}> is not a number")
    return value
