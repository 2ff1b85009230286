"""Sections on clusters: how many, which, and how others would have chosen them."""

import numpy as np

from kaccess.config import METHODS
from kaccess.report.figures import draw_chord, draw_over_k, draw_sizes
from kaccess.report.figures.style import figure_style, new_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.flow import pose_pictures
from kaccess.report.page.parts import Drawing, Gallery, Missing, Part, Section, Table
from kaccess.study import StoredClustering

__all__ = ["choice_section", "clusters_section", "no_clusters", "rivals_section"]

N_TOP = 20  # clusters in the chord diagram: the paper's
_WEAK, _STRONG = 0.05, 0.15  # likewise: left out below, highlighted above [-]


def choice_section(contents: Contents) -> Section:
    """Return how the number of clusters was chosen."""
    title, main = "Number of clusters", contents.main
    if main is None:
        return Section("choice", title, "", [no_clusters(contents)])
    k, quality = len(main.centroids), main.quality
    lead = (
        f"{k} clusters, index {quality.index:.2f}, {quality.coverage:.1%} of the poses "
        f"reached from a centroid other than themselves, {len(quality.singletons)} "
        "clusters of one pose."
    )
    if main.curve is None:
        command = f"kaccess cluster {contents.study}"
        missing = Missing("The number was given, not chosen by the index.", command)
        return Section("choice", title, lead, [missing])
    return Section("choice", title, lead, [_choice_drawing(main)])


def _choice_drawing(main: StoredClustering) -> Drawing:
    curve, chosen = main.curve or {}, len(main.centroids)
    k = np.array(curve["k"])
    rows = {
        "index": np.array(curve["index"], float),
        "singletons": np.array(curve["singletons"], float),
        "coverage [%]": 100 * np.array(curve["coverage"], float),
    }
    with figure_style():
        figure = new_figure(9.6, 4.8)
        axes = np.ravel(figure.subplots(3, 1, sharex=True, height_ratios=[2, 1, 1]))
        for ax, (label, values) in zip(axes, rows.items(), strict=True):
            draw_over_k(ax, k, values, chosen=chosen, label=label)
        axes[-1].set_xlabel("number of clusters k")
    return Drawing(
        "choice",
        figure,
        f"Index, clusters of one pose and coverage over the number of clusters from "
        f"{k.min()} to {k.max()}; {chosen} is chosen.",
        "The index of the paper over k; clusters of one pose and coverage beside it.",
        wide=True,
    )


def clusters_section(contents: Contents) -> Section:
    """Return the clusters: their sizes, how they are linked, and their centroids."""
    title, main = "Clusters", contents.main
    if main is None:
        return Section("clusters", title, "", [no_clusters(contents)])
    sizes = main.quality.sizes
    top = np.sort(sizes)[::-1][:N_TOP].sum()
    lead = f"{len(sizes)} clusters, whose centroids are starts to learn from."
    if len(sizes) > N_TOP:
        lead += f" The largest {N_TOP} hold {top / sizes.sum():.0%} of the poses."
    parts: list[Part] = [_sizes_drawing(main), _chord_drawing(contents, main)]
    return Section("clusters", title, lead, [*parts, _centroids(contents, main)])


def _sizes_drawing(main: StoredClustering) -> Drawing:
    with figure_style():
        figure = new_figure(5.4, 5.0)
        draw_sizes(figure.subplots(), main.quality.sizes)
    largest = ", ".join(map(str, np.sort(main.quality.sizes)[::-1][:5]))
    return Drawing(
        "sizes",
        figure,
        f"Bars: poses in each cluster, the largest first: {largest}, ...",
        "Poses in each cluster (the paper's Fig. 6); clusters of one pose in orange.",
    )


def _chord_drawing(contents: Contents, main: StoredClustering) -> Drawing:
    top = main.by_size[:N_TOP]
    inter = main.quality.inter[np.ix_(top, top)]
    centroids = contents.poses.qpos[main.centroids[top]]
    with figure_style():
        figure = new_figure(6.2, 6.2)
        draw_chord(
            figure.subplots(),
            inter,
            names=[str(cluster) for cluster in top],
            images=list(contents.album.pictures(centroids, width=96, height=72)),
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
        f"A chord has its source's colour and an arrow at its goal; over {_STRONG} in "
        f"colour, under {_WEAK} left out.",
    )


def _centroids(contents: Contents, main: StoredClustering) -> Gallery:
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
    pictures = pose_pictures(contents, main.centroids[order], lines)
    return Gallery(
        "The centroids, the largest cluster first. Intra-access is the worst access "
        "from the centroid to a member.",
        pictures,
    )


def rivals_section(contents: Contents) -> Section:
    """Return a table of what all methods make of the same matrix."""
    title, found = "Rival clusterings", contents.clusterings
    if not found:
        return Section("rivals", title, "", [no_clusters(contents)])
    rows = [
        _rival(name, found[name])
        for name in sorted(found, key=lambda name: -found[name].quality.index)
    ]
    head = (
        *("method", "k", "index", "coverage", "not covered", "not reached within"),
        *("of one pose", "sizes"),
    )
    note = (
        "Coverage: poses that a centroid other than themselves reaches in one move. "
        "Not covered: poses that no centroid reaches. Not reached within: share of the "
        "pairs within clusters. Sizes: largest / median / smallest."
    )
    parts: list[Part] = [
        Table("The same matrix, clustered by each method.", head, rows, note)
    ]
    if len(found) == 1:
        command = f"kaccess cluster {contents.study} --method kmeans"
        parts.append(Missing("No rival has clustered these poses yet.", command))
    lead = "A higher index and coverage are better; the two do not always go together."
    return Section("rivals", title, lead, parts)


def _rival(name: str, clusters: StoredClustering) -> list[str]:
    quality = clusters.quality
    sizes = np.sort(quality.sizes)[::-1]
    return [
        METHODS[name].title if name in METHODS else name,
        str(len(sizes)),
        f"{quality.index:.2f}",
        f"{quality.coverage:.1%}",
        f"{len(quality.uncovered)} poses",
        f"{clusters.unreachable:.1%}",
        f"{len(quality.singletons)}",
        f"{sizes[0]} / {sizes[len(sizes) // 2]} / {sizes[-1]}",
    ]


def no_clusters(contents: Contents) -> Missing:
    """Return what to do first where there are no clusters."""
    if contents.summary.graph is None:
        return Missing("Times come first.", f"kaccess access {contents.study}")
    command = f"kaccess cluster {contents.study}"
    return Missing("The poses have not been clustered by K-Access yet.", command)
