"""Growth of a posture graph, and the search for skills, in words."""

from kaccess.access.skills import SkillFound
from kaccess.guide import Skill
from kaccess.study.growing import Growth, SkillSearch

__all__ = ["format_growth", "format_search", "format_skill"]


def format_growth(growth: Growth) -> str:
    """Return how the graph grew, one line per round, and whether it is good enough."""
    lines = [
        f"{each.n_poses} poses: of {each.n_tests} fresh poses, {each.n_in_time} stood "
        f"up within {growth.seconds:.3g} s and {each.n_up} within ten moves"
        for each in growth.rounds
    ]
    best = max(each.n_in_time / each.n_tests for each in growth.rounds)
    if best < growth.share:
        lines.append(
            f"That is less than {growth.share:.0%}. More poses may help (--most), or a "
            "search for skills: kaccess search STUDY --task fall-recovery"
        )
    return "\n".join(lines)


def format_search(search: SkillSearch) -> str:
    """Return what each get-up skill is worth, one line each."""
    if not search.found:
        return (
            "Nothing to search for: a good chain of moves leads from each pose to "
            "standing, or the robot does not come to rest when commanded to stand."
        )
    return "\n".join(map(_format_found, search.found))


def _format_found(found: SkillFound) -> str:
    return (
        f"From where pose {found.source} stays down: {found.n_explored} skills "
        f"explored; the best after variation ends with a rating of {found.rating:.2f} "
        f"(1: standing) and frees {found.n_free} of {found.n_trapped} trapped poses. "
        f"Mean value of all poses: {found.values[0]:.2f} before, "
        f"{found.values[1]:.2f} now."
    )


def format_skill(skill: Skill) -> str:
    """Return how long a skill is, and how often it succeeds."""
    return (
        f"Found a skill of {len(skill.actions)} steps that succeeds in "
        f"{skill.success:.0%} of trials with noise."
    )
