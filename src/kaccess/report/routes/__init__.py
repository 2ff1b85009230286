"""Routes to standing: played in the simulator, explained, and shown as filmstrips."""

from kaccess.report.routes.chains import Chain, chain_played, chain_routes
from kaccess.report.routes.filmstrip import make_filmstrip, write_filmstrip
from kaccess.report.routes.played import (
    PlayedRoute,
    describe_end,
    pick_poses,
    play_routes,
)
from kaccess.report.routes.traps import Trap, find_traps

__all__ = [
    "Chain",
    "PlayedRoute",
    "Trap",
    "chain_played",
    "chain_routes",
    "describe_end",
    "find_traps",
    "make_filmstrip",
    "pick_poses",
    "play_routes",
    "write_filmstrip",
]
