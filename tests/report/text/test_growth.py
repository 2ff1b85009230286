"""Growth and searches in words."""

import numpy as np

from kaccess.access.growth import GrowthRound
from kaccess.access.skills import SkillFound
from kaccess.guide import Skill
from kaccess.report.text.growth import format_growth, format_search, format_skill
from kaccess.study.growing import Growth, SkillSearch


def make_round(n_in_time):
    return GrowthRound(
        n_poses=40, n_commands=41, n_in_time=n_in_time, n_up=95, n_tests=100
    )


def test_growth_has_a_line_for_each_round_and_says_if_it_is_not_enough():
    rounds = (make_round(90), make_round(80))
    lines = format_growth(Growth(rounds, seconds=3.456, share=0.9)).splitlines()
    assert lines == [
        "40 poses: of 100 fresh poses, 90 stood up within 3.46 s and 95 within ten "
        "moves",
        "40 poses: of 100 fresh poses, 80 stood up within 3.46 s and 95 within ten "
        "moves",
    ]
    more = format_growth(Growth(rounds, seconds=3.456, share=0.95)).splitlines()
    assert more[:2] == lines
    assert more[2].startswith("That is less than 95%. More poses may help (--most)")
    assert "kaccess search STUDY --task fall-recovery" in more[2]


def test_a_search_has_a_line_for_each_trap():
    found = SkillFound(
        source=7,
        n_trapped=20,
        n_free=12,
        rating=0.876,
        n_explored=16,
        values=(0.02, 0.35),
    )
    lines = format_search(SkillSearch((found, found))).splitlines()
    assert (
        lines
        == [
            "From where pose 7 stays down: 16 skills explored; the best after "
            "variation ends with a rating of 0.88 (1: standing) and frees 12 of 20 "
            "trapped poses. Mean value of all poses: 0.02 before, 0.35 now."
        ]
        * 2
    )
    assert format_search(SkillSearch(())).startswith("Nothing to search for")


def test_a_skill_from_standing_has_its_length_and_its_success():
    skill = Skill(np.zeros((30, 8)), success=0.75, reward=1.0)
    assert format_skill(skill) == (
        "Found a skill of 30 steps that succeeds in 75% of trials with noise."
    )
