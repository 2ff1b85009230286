"""Results of a study that are files of their own: runs, scores, clusterings as JSON."""

from pathlib import Path
from typing import Any

from kaccess.base.json_files import write_json
from kaccess.base.settings import Settings
from kaccess.study.names import RunsName, TestName, check_name
from kaccess.study.results import read_results

__all__ = ["ResultFiles"]


class ResultFiles:
    """The files of results in the folder of a study.

    Attributes:
        path: Folder of the study.
    """

    path: Path

    def runs_folder(self, runs: RunsName) -> Path:
        """Return the folder of the runs of a task under some conditions."""
        check_name(runs.task, "a task")
        return self.path / "train" / runs.text

    def runs(self) -> dict[RunsName, Path]:
        """Return all folders of runs."""
        folders = sorted((self.path / "train").glob("*/"))
        return {RunsName.parse(folder.name): folder for folder in folders}

    def write_test(self, test: TestName, content: Settings) -> None:
        """Store the scores of all policies of some runs."""
        check_name(test.runs.task, "a task")
        self.write_json(f"evaluation/{test.text}.json", content)

    def tests(self) -> dict[TestName, dict[str, Any]]:
        """Return the stored scores of all tests."""
        found = self.read_jsons("evaluation").items()
        return {TestName.parse(name): content for name, content in found}

    def write_json(self, name: str, content: Settings) -> Path:
        """Write a file of results, such as `clusters/kaccess.json`."""
        path = self.path / name
        write_json(path, content)
        return path

    def read_jsons(self, folder: str) -> dict[str, dict[str, Any]]:
        """Return the contents of the JSON files in a folder, by their stems."""
        return read_results(self.path, folder)
