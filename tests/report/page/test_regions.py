"""Tables of clusterings for a task, and the section on exploration regions."""

import shutil

import pytest

from kaccess import ClusterConfig, Study, pipeline
from kaccess.report.page.clusters import make_rivals_section
from kaccess.report.page.contents import read_contents
from kaccess.report.page.regions import make_regions_section


@pytest.fixture(scope="module")
def contents(clustered, tmp_path_factory):
    """Of a study that was also clustered for backflips."""
    path = tmp_path_factory.mktemp("task") / "study"
    shutil.copytree(clustered, path)
    pipeline.cluster(path, ClusterConfig(task="backflip", k=2, n_init=1))
    return read_contents(Study(path))


def test_clusterings_for_a_task_have_a_table_of_their_own(contents):
    tables = make_rivals_section(contents).parts
    names = [[row[0] for row in table.rows] for table in tables]
    assert sorted(names[0]) == ["K-Access", "K-Means++", "rnd"]
    assert names[1] == ["K-Access"]
    assert tables[1].caption.startswith("The poses that backflip can start from")
    assert {len(row) for table in tables for row in table.rows} == {len(tables[0].head)}
    assert names[0][-1] == "rnd"  # without an index, it comes last


def test_each_distribution_of_the_paper_is_in_the_figures(contents):
    section = make_regions_section(contents)
    assert [part.name for part in section.parts] == [
        "metric",
        "exploration",
        "redundancy",
    ]
    texts = [text.get_text() for text in section.parts[2].figure.axes[0].texts]
    assert texts == ["ka", "km", "rnd"]
    lines = section.parts[1].figure.axes[0].lines
    assert [line.get_label() for line in lines[:3]] == ["ka", "km", "rnd"]
