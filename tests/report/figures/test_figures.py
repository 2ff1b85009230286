"""Figures draw the arrays they are given."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from kaccess import InputError, pipeline
from kaccess.cluster.regions import Regions
from kaccess.report.figures import (
    draw_access,
    draw_asymmetry,
    draw_chord,
    draw_curves,
    draw_exploration,
    draw_joints,
    draw_metric,
    draw_over_k,
    draw_reach,
    draw_redundancy,
    draw_sizes,
    draw_success,
    draw_times,
    pick_representatives,
)
from kaccess.report.figures.all_times import StoredTimes, iterate
from kaccess.report.figures.style import ACCENT, FAINT, SERIES, STRONG
from kaccess.report.rendering.render import render_poses
from kaccess.study import Study

X = np.inf


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture
def renders(tiny):
    """One rendered picture; skip the test if rendering does not work."""
    try:
        return render_poses(tiny, tiny.standing[None], width=40, height=30)
    except InputError as error:
        pytest.skip(str(error))


def test_a_rendered_picture_is_not_blank(renders):
    assert renders.shape == (1, 30, 40, 3)
    assert len(np.unique(renders)) > 20


def test_different_poses_look_different(tiny, renders):
    qpos = np.repeat(tiny.standing[None], 2, axis=0)
    qpos[1, tiny.joint_adr] = 1.0
    images = render_poses(tiny, qpos, width=160, height=120)
    assert (images[0] != images[1]).any()


@pytest.mark.parametrize("works", [True, False])
def test_a_study_has_an_overview_with_and_without_opengl(
    tiny_study, works, monkeypatch
):
    def cannot(*args, **kwargs):
        raise InputError("Nothing can be rendered here.")

    def can(robot, qpos):
        return np.zeros((len(qpos), 30, 40, 3), np.uint8)

    monkeypatch.setattr(
        "kaccess.report.rendering.render.render_poses", can if works else cannot
    )
    path = pipeline.picture(tiny_study)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_most_frequent_contact_cases_come_first():
    contacts = np.array([[1, 0], [0, 1], [0, 1], [1, 1], [0, 1], [1, 1]], bool)
    assert pick_representatives(contacts, 2).tolist() == [1, 3]


def test_only_moves_between_different_poses_are_counted(ax):
    draw_times(ax, np.array([[0, 0.5, X], [1.0, 0, np.nan], [X, 0.5, 0]]))
    assert sum(bar.get_height() for bar in ax.patches) == 3
    assert ax.get_title() == "50.0% of the pairs are reached in one move"


def test_a_large_matrix_is_averaged(ax, monkeypatch):
    monkeypatch.setattr("kaccess.report.figures.matrix._MOST_PIXELS", 2)
    times = np.full((3, 3), X)
    times[2, 0] = times[2, 1] = times[2, 2] = 0.0
    draw_access(ax, times, order=np.arange(3))
    np.testing.assert_allclose(
        ax.images[0].get_array(), [[0.0, 0.0], [1.0, 1.0]], atol=1e-6
    )


def test_reach_counts_both_directions(ax):
    draw_reach(ax, np.array([[0, 1.0, 1.0], [X, 0, X], [X, 1.0, 0]]))
    reaches, reached = (line.get_ydata().tolist() for line in ax.get_lines())
    assert reaches == [2, 1, 0] and reached == [2, 1, 0]


def test_sizes_are_sorted_and_single_poses_have_another_colour(ax):
    draw_sizes(ax, np.array([1, 5, 3]))
    assert [bar.get_height() for bar in ax.patches] == [5, 3, 1]
    colours = [to_hex(bar.get_facecolor()) for bar in ax.patches]
    assert colours == [ACCENT, ACCENT, STRONG]


@pytest.mark.parametrize("chosen", [3, None, 99])
def test_the_chosen_number_is_marked(ax, chosen):
    draw_over_k(ax, np.arange(2, 6), np.zeros(4), chosen=chosen, label="index")
    assert [text.get_text() for text in ax.texts] == ["0 at k = 3"] * (chosen == 3)


def test_curves_are_means_with_bands_of_one_sd(ax):
    values = np.array([[1.0, 3.0], [3.0, 3.0]])
    draw_curves(ax, {"ka": (np.array([50, 100]), values)}, label="reward")
    assert ax.get_lines()[0].get_ydata().tolist() == [2.0, 3.0]
    band = ax.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (1.0, 3.0)


def test_guided_learners_have_the_colour_of_their_starts_and_dashes(ax):
    curve = np.array([50, 100]), np.array([[0.1, 0.2]])
    draw_curves(ax, dict.fromkeys(("km", "rnd", "guided-rnd"), curve))
    km, rnd, guided = ax.lines
    assert guided.get_color() == rnd.get_color() != km.get_color()
    assert rnd.get_linestyle() == "-" != guided.get_linestyle()
    assert len(ax.collections) == 3  # bands


def test_bands_of_shares_end_at_0_and_1(ax):
    values = np.array([[0.0, 1.0], [1.0, 1.0]])
    draw_curves(ax, {"ka": (np.array([50, 100]), values)}, share=True)
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() >= 0.0 and band[:, 1].max() <= 1.0


def test_success_has_one_row_per_kind_of_starts(ax):
    success = np.array([[0.0, np.nan, 1.0], [0.5, 0.5, 0.5]])
    draw_success(ax, success, starts=["ka", "rnd"], groups=["3", "1", "none"])
    np.testing.assert_array_equal(ax.images[0].get_array().filled(np.nan), success)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["ka", "rnd"]


def test_joints_of_a_leg_share_a_colour(ax):
    names = ["lf_hip", "lf_knee", "rf_hip", "rf_knee"]
    draw_joints(ax, np.arange(3.0), np.zeros((3, 4)), names=names, label="angle")
    colours = [line.get_color() for line in ax.get_lines()]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert ax.get_lines()[0].get_linestyle() != ax.get_lines()[1].get_linestyle()


INTER = np.array([[1.0, 0.4, 0.1], [0.0, 1.0, 0.04], [0.2, 0.0, 1.0]])


def chords(ax):
    """Return colour and vertices of each chord; the patches before are arcs."""
    patches = ax.patches[len(INTER) :]
    return [(to_hex(p.get_facecolor()), p.get_path().vertices) for p in patches]


def angle(point):
    return np.degrees(np.arctan2(point[1], point[0])) % 360


def test_chords_are_left_out_grey_or_coloured_by_their_source(ax):
    draw_chord(ax, INTER, names=["a", "b", "c"])
    assert [colour for colour, _ in chords(ax)] == [FAINT, SERIES[0], SERIES[2]]


def test_a_chord_points_from_its_source_to_its_goal(ax):
    draw_chord(ax, INTER, names=["a", "b", "c"])
    arcs = [patch.get_path().vertices for patch in ax.patches[: len(INTER)]]
    middles = [angle(arc[:-1].mean(axis=0)) for arc in arcs]

    def nearest(point):
        apart = (angle(point) - middles + 180) % 360 - 180
        return int(np.abs(apart).argmin())

    ends = {}
    for _, points in chords(ax):
        tip = points[np.linalg.norm(points, axis=1).argmax()]
        ends.setdefault(nearest(points[0]), []).append(nearest(tip))
    assert ends == {0: [2, 1], 2: [0]}


@pytest.mark.parametrize("radius", [0.935, 0.88])
def test_a_chord_is_as_wide_as_its_accessibility_at_both_ends(ax, radius):
    draw_chord(ax, INTER, names=["a", "b", "c"])
    widths = []
    for _, points in chords(ax):
        end = points[np.isclose(np.linalg.norm(points, axis=1), radius)]
        widths.append(np.ptp(np.unwrap(np.arctan2(end[:, 1], end[:, 0]))))
    np.testing.assert_allclose(np.divide(widths, widths[0]), [1.0, 4.0, 2.0], rtol=1e-6)


def test_clusters_without_links_are_drawn(ax):
    draw_chord(ax, np.eye(4), names=["a", "b", "c", "d"])
    assert len(ax.patches) == 4
    assert [text.get_text() for text in ax.texts] == ["a", "b", "c", "d"]


def test_moves_are_binned_by_distance(ax):
    """Of the near moves, 60 % arrive and 20 % soon; of the far ones, none."""
    distances = np.repeat([1.0, 2.0], 200)
    times = np.concatenate([np.tile([0.2, 1.0, 1.0, X, X], 40), np.full(200, X)])
    draw_metric(ax, distances, times, t_0=0.5)
    arrive, soon = (line.get_ydata() for line in ax.lines)
    np.testing.assert_allclose(arrive, [0.6] * 10 + [0.0] * 10)
    np.testing.assert_allclose(soon, [0.2] * 10 + [0.0] * 10)


def test_each_distribution_has_its_curve_and_its_point(ax):
    limits = np.array([0.0, 1.0, 2.0])
    shares = {"ka": np.array([0, 0.5, 0.9]), "rnd": np.array([0, 0.8, 1.0])}
    draw_exploration(ax, shares, limits, t_0=1.0)
    assert [line.get_label() for line in ax.lines[:2]] == ["ka", "rnd"]
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), shares["rnd"])
    assert ax.lines[2].get_xdata()[0] == 1.0  # t_0

    other = Figure().subplots()
    draw_redundancy(other, {"ka": Regions(1.0, 0.5, 1.2), "rnd": Regions(1.0, 0.8, 30)})
    points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in other.lines]
    assert points == [(1.2, 0.5), (30, 0.8)]
    assert [text.get_text() for text in other.texts] == ["ka", "rnd"]


def test_figures_of_parts_equal_those_of_the_whole_matrix(clustered, monkeypatch):
    study = Study(clustered)
    monkeypatch.setattr("kaccess.study.arrays._READ_SIZE", 3 * study.n_poses)
    stored, times = StoredTimes(study.arrays), study.times
    assert len(list(iterate(stored))) > 3
    for draw in (draw_times, draw_asymmetry, draw_reach):
        figures = [Figure(), Figure()]
        for figure, each in zip(figures, (stored, times), strict=True):
            draw(figure.subplots(), each)
        first, second = (describe(figure.axes[0]) for figure in figures)
        assert first == second
    np.testing.assert_array_equal(stored[np.array([4, 1])], times[[4, 1]])


def describe(ax):
    """Return all that axes show."""
    lines = [list(line.get_ydata()) for line in ax.get_lines()]
    bars = [bar.get_height() for bar in ax.patches]
    images = [image.get_array().filled(0).tolist() for image in ax.images]
    return ax.get_title(), lines, bars, images


def test_asymmetry_counts_each_pair_once(ax, monkeypatch):
    """The same as a histogram of all pairs, whatever the size of the blocks."""
    rng = np.random.default_rng(0)
    times = np.where(rng.random((30, 30)) < 0.5, 3 * rng.random((30, 30)), X)
    times[rng.random((30, 30)) < 0.1] = np.nan
    times[3, 4] = times[4, 3] = 3.0  # the end of the last bin
    there, back = np.nonzero(np.triu(np.isfinite(times) & np.isfinite(times.T), 1))
    expected, *_ = np.histogram2d(
        times[back, there], times[there, back], bins=60, range=[(0.0, 3.0)] * 2
    )
    linked = np.triu(np.isfinite(times) | np.isfinite(times.T), 1).sum()
    monkeypatch.setattr("kaccess.report.figures.matrix._BLOCK", 7)
    draw_asymmetry(ax, times)
    np.testing.assert_array_equal(ax.images[0].get_array().filled(0), expected)
    assert ax.get_title().startswith(f"{1 - len(there) / linked:.1%} ")


def test_a_large_matrix_in_any_order_is_averaged_by_blocks(ax, monkeypatch):
    monkeypatch.setattr("kaccess.report.figures.matrix._MOST_PIXELS", 4)
    rng = np.random.default_rng(1)
    times, order = 3 * rng.random((9, 9)), rng.permutation(9)
    draw_access(ax, times, order=order)
    access = np.exp(-times)[np.ix_(order, order)]
    parts = [slice(0, 3), slice(3, 6), slice(6, 9)]
    expected = [[access[a, b].mean() for b in parts] for a in parts]
    np.testing.assert_allclose(ax.images[0].get_array(), expected)
