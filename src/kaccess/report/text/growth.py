"""Growth of a posture graph, and the search for skills, in words."""

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
        return "No pose is trapped: a chain of moves leads from each to standing."
    return "\n".join(
        f"From pose {each.source}: the best skill ends with a rating of "
        f"{each.rating:.2f} (1: standing) and frees {each.n_free} of {each.n_trapped} "
        "trapped poses."
        for each in search.found
    )


def format_skill(skill: Skill) -> str:
    """Return how long a skill is, and how often it succeeds."""
    return (
        f"Found a skill of {len(skill.actions)} steps that succeeds in "
        f"{skill.success:.0%} of trials with noise."
    )
