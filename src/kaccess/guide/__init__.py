"""Getting up without learning: the guide, and skills that a search has found."""

from kaccess.guide.guide import FastestRoutes, Guide, follow_guide
from kaccess.guide.skill import (
    Skill,
    find_skill,
    has_skill,
    search_skill,
    search_study,
)

__all__ = [
    "FastestRoutes",
    "Guide",
    "Skill",
    "find_skill",
    "follow_guide",
    "has_skill",
    "search_skill",
    "search_study",
]
