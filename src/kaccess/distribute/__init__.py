"""Work on a cluster of machines, by Ray, which is imported only if it is used."""

from kaccess.distribute.address import parse_address
from kaccess.distribute.workplace import Workplace, open_workplace

__all__ = ["Workplace", "open_workplace", "parse_address"]
