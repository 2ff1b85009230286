"""Exports in the real frameworks; `make test-exports` runs them, one by one.

Each framework has an environment of its own, without kaccess. Studies are exported
before, by `prepare.py`, into the folder `KACCESS_EXPORTS`.
"""
