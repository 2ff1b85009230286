"""Marks a study as partial, or as one whose pairs are all to be estimated."""

from kaccess.base.json_files import write_json
from kaccess.base.settings import Settings
from kaccess.study.lock import lock_folder
from kaccess.study.settings_file import SETTINGS_FILE, read_settings
from kaccess.study.study import Study

__all__ = ["mark_partial", "unmark_partial"]


def mark_partial(study: Study, section: Settings | None) -> None:
    """Store how some pairs were chosen, or None for all of them.

    What was made of fewer pairs is forgotten, so that it is made again.
    """
    study.arrays.forget_n_moves()
    with lock_folder(study.path):
        study.settings = read_settings(study.path)
        study.settings.pop("pairs", None)
        if section is not None:
            study.settings["pairs"] = dict(section)
        write_json(study.path / SETTINGS_FILE, study.settings)
    study.forget()


def unmark_partial(study: Study) -> None:
    """Forget that a study is partial, before all its pairs are estimated."""
    if study.partial is not None:
        mark_partial(study, None)
