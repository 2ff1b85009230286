"""Sections on clusters: their number, the clusters, and other methods."""

from collections.abc import Sequence

import numpy as np

from kaccess.cluster.comparison import ComparisonRow, format_cells, name_regions
from kaccess.config import METHODS
from kaccess.report.figures import draw_chord, draw_over_k, draw_sizes
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.parts import Drawing, Gallery, Missing, Part, Section, Table
from kaccess.report.page.pictures import make_pictures
from kaccess.study import StoredClustering
from kaccess.study.names import OfTask

__all__ = [
    "make_choice_section",
    "make_clusters_section",
    "suggest_clustering",
    "make_rivals_section",
]

_N_TOP = 20  # clusters in the chord diagram: the paper, Fig. 7
_NOTE = (
    "Coverage: poses that a centroid other than themselves reaches in one move. "
    "Landed: poses at which some move from a centroid ends. "
    "Within: poses in the exploration region of a centroid, reached in less than this. "
    "Redundancy: number of regions that such a pose lies in. "
    "Contact: adjusted mutual information of clusters and contact cases; 1: the same, "
    "0: unrelated. Not covered: poses that no centroid reaches. "
    "Pairs not reached: share of ordered pairs within clusters. "
    "Sizes: largest / median / smallest."
)
_WEAK, _STRONG = 0.05, 0.15  # chords left out below, coloured above [-]: Fig. 7


def make_choice_section(contents: Contents) -> Section:
    """Return the number of clusters, and how it was chosen."""
    title, main = "Number of clusters", contents.main
    if main is None:
        return Section("choice", title, "", [suggest_clustering(contents)])
    k, quality = len(main.centroids), main.quality
    lead = (
        f"{k} clusters with index {quality.index:.2f}. {quality.coverage:.1%} of the "
        "poses are reached from a centroid other than themselves. "
        f"{len(quality.singletons)} clusters have one pose."
    )
    if main.curve is None:
        command = f"kaccess cluster {contents.study}"
        missing = Missing(
            "The number was set by hand, not chosen by the index.", command
        )
        return Section("choice", title, lead, [missing])
    return Section("choice", title, lead, [_draw_choice(main)])


def _draw_choice(main: StoredClustering) -> Drawing:
    curve, chosen = main.curve or {}, len(main.centroids)
    k = np.array(curve["k"])
    rows = {
        "index": np.array(curve["index"], float),
        "singletons": np.array(curve["singletons"], float),
        "coverage [%]": 100 * np.array(curve["coverage"], float),
    }
    with figure_style():
        figure = make_figure(9.6, 4.8)
        axes = np.ravel(figure.subplots(3, 1, sharex=True, height_ratios=[2, 1, 1]))
        for ax, (label, values) in zip(axes, rows.items(), strict=True):
            draw_over_k(ax, k, values, chosen=chosen, label=label)
        axes[-1].set_xlabel("number of clusters k")
    return Drawing(
        "choice",
        figure,
        f"Index, clusters of one pose and coverage over the number of clusters from "
        f"{k.min()} to {k.max()}; {chosen} is chosen.",
        "Index of the paper, clusters of one pose, and coverage, over k.",
        wide=True,
    )


def make_clusters_section(contents: Contents) -> Section:
    """Return sizes, links and centroids of the clusters."""
    title, main = "Clusters", contents.main
    if main is None:
        return Section("clusters", title, "", [suggest_clustering(contents)])
    sizes = main.quality.sizes
    top = np.sort(sizes)[::-1][:_N_TOP].sum()
    lead = f"{len(sizes)} clusters; policies can train from their centroids."
    if len(sizes) > _N_TOP:
        lead += f" The largest {_N_TOP} hold {top / sizes.sum():.0%} of the poses."
    parts: list[Part] = [_draw_sizes(main), _draw_chord(contents, main)]
    return Section("clusters", title, lead, [*parts, _show_centroids(contents, main)])


def _draw_sizes(main: StoredClustering) -> Drawing:
    with figure_style():
        figure = make_figure(5.4, 5.0)
        draw_sizes(figure.subplots(), main.quality.sizes)
    largest = ", ".join(map(str, np.sort(main.quality.sizes)[::-1][:5]))
    return Drawing(
        "sizes",
        figure,
        f"Bars: poses in each cluster, the largest first: {largest}, ...",
        "Poses in each cluster (the paper's Fig. 6); clusters of one pose in orange.",
    )


def _draw_chord(contents: Contents, main: StoredClustering) -> Drawing:
    top = main.by_size[:_N_TOP]
    inter = main.quality.inter[np.ix_(top, top)]
    centroids = contents.poses.qpos[main.centroids[top]]
    with figure_style():
        figure = make_figure(6.2, 6.2)
        draw_chord(
            figure.subplots(),
            inter,
            names=[str(cluster) for cluster in top],
            images=list(contents.album.get_pictures(centroids, width=96, height=72)),
            omit_below=_WEAK,
            highlight_above=_STRONG,
        )
    off = ~np.eye(len(top), dtype=bool)
    i, j = np.unravel_index(np.where(off, inter, -1.0).argmax(), inter.shape)
    strong = int((inter[off] > _STRONG).sum())
    return Drawing(
        "chord",
        figure,
        f"Chord diagram of the accessibility among the {len(top)} largest clusters: "
        f"{strong} directed links over {_STRONG}; the strongest, {inter[i, j]:.2f}, "
        f"from cluster {top[i]} to {top[j]}.",
        f"Inter-cluster accessibility of the largest {len(top)} (the paper's Fig. 7). "
        f"A chord has the colour of its source and an arrow at its goal. Chords over "
        f"{_STRONG} are in colour, those under {_WEAK} are left out.",
    )


def _show_centroids(contents: Contents, main: StoredClustering) -> Gallery:
    sizes, intra = main.quality.sizes, main.quality.intra
    order = main.by_size
    lines = [
        [
            f"cluster {cluster}, {sizes[cluster]} "
            f"{'pose' if sizes[cluster] == 1 else 'poses'}",
            contents.cases[main.centroids[cluster]],
            f"intra-access {intra[cluster]:.2f}",
        ]
        for cluster in order
    ]
    pictures = make_pictures(contents, main.centroids[order], lines)
    return Gallery(
        "The centroids, largest cluster first. Intra-access is the lowest "
        "accessibility from the centroid to a member.",
        pictures,
    )


def make_rivals_section(contents: Contents) -> Section:
    """Return a table of the clusterings of all methods."""
    title, found = "Rival clusterings", contents.rivals
    if not found:
        return Section("rivals", title, "", [suggest_clustering(contents)])
    by_task: dict[str, list[ComparisonRow]] = {}
    for row in found:
        by_task.setdefault(OfTask.parse(row.name).task, []).append(row)
    parts: list[Part] = [_make_table(task, rows) for task, rows in by_task.items()]
    if len(contents.clusterings) == 1:
        command = f"kaccess cluster {contents.study} --method kmeans"
        parts.append(Missing("No other method has clustered these poses yet.", command))
    lead = "A higher index and coverage are better; the two do not always go together."
    return Section("rivals", title, lead, parts)


def _make_table(task: str, rows: Sequence[ComparisonRow]) -> Table:
    """Return the table of the clusterings for a task, best index first."""
    head = (
        *("method or starts", "k", "index", "coverage", "landed", name_regions(rows)),
        *("redundancy", "contact", "not covered", "pairs not reached"),
        *("clusters of one pose", "sizes"),
    )
    ordered = sorted(rows, key=lambda row: np.inf if row.index is None else -row.index)
    caption = "The same matrix, clustered by each method."
    if task:
        caption = f"The poses that {task} can start from, clustered by each method."
    return Table(caption, head, [_make_row(row) for row in ordered], _NOTE)


def _make_row(row: ComparisonRow) -> list[str]:
    method = OfTask.parse(row.name).name
    title = METHODS[method].title if method in METHODS else method
    return [title, *format_cells(row)[1:]]


def suggest_clustering(contents: Contents) -> Missing:
    """Return the note on missing clusters, with the next command to run."""
    if contents.summary.graph is None:
        return Missing("Estimate the times first.", f"kaccess access {contents.study}")
    command = f"kaccess cluster {contents.study}"
    return Missing("The poses have not been clustered by K-Access yet.", command)
