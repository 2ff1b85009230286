"""The section on the run: settings, versions, machine and times."""

from kaccess.base.settings import flatten
from kaccess.report.page.contents import Contents
from kaccess.report.page.parts import Facts, Part, Picture, Section, Settings
from kaccess.report.rendering.album import encode_data_uri
from kaccess.report.text.numbers import format_duration

__all__ = ["make_run_section"]

_STAGES = ("sample", "access", "cluster", "search", "train", "evaluate")
_HIDDEN = ("format", "model", "draws", "loaded")  # settings that are shown elsewhere


def make_run_section(contents: Contents) -> Section:
    """Return the verdict, and settings, machine and times of the study."""
    settings = contents.summary.settings
    shown = {name: value for name, value in settings.items() if name not in _HIDDEN}
    every = [(name, str(value)) for name, value in flatten(shown).items()]
    parts: list[Part] = [_make_facts(contents), Settings("All settings", every)]
    return Section("run", "What was run", contents.summary.verdict, parts)


def _make_facts(contents: Contents) -> Facts:
    robot, settings = contents.poses.robot, contents.summary.settings
    images = contents.album.get_pictures(robot.standing[None], width=480, height=360)
    picture = Picture(encode_data_uri(images[0]), f"{robot.name} standing")
    n_poses, seed = contents.summary.n_poses, settings["sample"]["seed"]
    rows = [
        ("robot", robot.name),
        ("standing", robot.stance.how),
        *(("note", note) for note in robot.notes),
        ("joints", f"{robot.model.nu}: {', '.join(robot.joint_names)}"),
        ("model", f"{settings['model'][:12]}, physics step {robot.timestep:.4g} s"),
        ("poses", f"{n_poses:,}, seed {seed}"),
        ("engine", _name_engines(contents)),
        ("versions", _list_versions(contents)),
        ("machine", _describe_machine(contents)),
        ("time spent", _list_stage_times(contents)),
    ]
    return Facts(rows, picture)


def _name_engines(contents: Contents) -> str:
    settings = contents.summary.settings
    used = [
        settings[stage].get("engine")
        for stage in ("sample", "access")
        if stage in settings
    ]
    return ", then ".join(dict.fromkeys(str(engine) for engine in used if engine))


def _list_versions(contents: Contents) -> str:
    settings = contents.summary.settings
    machine = settings.get("machine", {})
    versions = dict(settings["versions"]) | {
        name: machine[name] for name in ("numpy", "python") if name in machine
    }
    return ", ".join(f"{name} {value}" for name, value in versions.items())


def _describe_machine(contents: Contents) -> str:
    machine = contents.summary.settings.get("machine", {})
    known = [machine.get("cpu"), machine.get("platform")]
    if "cores" in machine:
        known.insert(1, f"{machine['cores']} cores")
    return ", ".join(str(part) for part in known if part) or "not recorded"


def _list_stage_times(contents: Contents) -> str:
    timings = contents.timings
    known = [
        f"{stage} {format_duration(timings[stage])}"
        for stage in _STAGES
        if stage in timings
    ]
    return ", ".join(known) or "not recorded"
