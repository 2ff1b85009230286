import numpy as np
import pytest

from kaccess import InputError
from kaccess.evaluation.comparison import (
    compare,
    find_common_horizon,
    format_comparison,
    leave_out_clones,
)
from kaccess.evaluation.curves import (
    Curves,
    find_episode_steps,
    load_curves,
    merge_curves,
    pool_curves,
    save_curves,
)


def curves(*success):
    table = np.array(success, dtype=float)
    episodes = 25.0 * np.arange(1, table.shape[1] + 1)
    scores = {"success": table, "success_loose": table}
    return Curves(np.arange(len(table)), episodes, scores)


def write(folder, name, rows):
    path = folder / name / "evaluation.csv"
    path.parent.mkdir(parents=True)
    lines = [f"{step},{success},1" for step, success in rows]
    path.write_text("\n".join(["step,success_loose,reward", *lines]) + "\n")


def test_the_first_touch_of_a_level_is_the_first_test_that_shows_it():
    found = curves([0.1, 0.95, 0.5, 1.0], [0.0, 0.0, 0.9, 0.9], [0.0, 0.1, 0.2, 0.3])
    runs = found.durations(0.9, in_row=1)
    np.testing.assert_array_equal(runs.times, [50, 75, 100])
    np.testing.assert_array_equal(runs.happened, [True, True, False])
    np.testing.assert_allclose(found.area(), [0.6375, 0.45, 0.15])


def test_a_level_is_reached_at_the_first_of_three_tests_in_a_row():
    """Of six tests the first four, up to episode 100, can begin three in a row."""
    found = curves(
        [0.0, 1.0, 0.0, 1.0, 1.0, 1.0],  # a touch at 50 that does not last
        [0.9, 0.9, 0.9, 0.0, 0.0, 0.0],  # reached, and lost again later
        [0.0, 0.0, 0.0, 0.0, 1.0, 1.0],  # two at the end may become three, or not
        [0.0, 1.0, 1.0, 0.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    )
    runs = found.durations(0.9)
    np.testing.assert_array_equal(runs.times, [100, 25, 100, 100, 100])
    np.testing.assert_array_equal(runs.happened, [True, True, False, False, False])
    two = found.durations(0.9, in_row=2)
    np.testing.assert_array_equal(two.times, [100, 25, 125, 50, 125])
    np.testing.assert_array_equal(two.happened, [True, True, True, True, False])


def test_more_tests_in_a_row_than_there_are_is_an_error():
    with pytest.raises(InputError, match=r"`in_row` must be at most .* 2, got 3"):
        curves([1.0, 1.0]).durations(0.9)


def test_speed_is_compared_up_to_a_common_horizon():
    """Six tests; three in a row begin at 100 episodes or earlier."""
    fast = curves([0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1])  # 50 and 25 episodes
    slow = curves([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1])  # 100, and not yet at 100
    found, back = compare(fast, slow, 0.9), compare(slow, fast, 0.9)
    assert (found.seeds, back.seeds) == ("2 of 2", "1 of 2")
    assert (found.episodes.value, back.episodes.value) == (37.5, 100)
    assert found.ratio.value == pytest.approx(0.375)
    assert found.p == back.p == pytest.approx(1 / 3)  # 2 of the 6 shuffles
    assert compare(slow, slow, 0.9).p == 1.0
    shorter = compare(slow, fast, 0.9, horizon=75)
    assert (shorter.seeds, shorter.episodes.value) == ("0 of 2", 75)
    touch = compare(slow, fast, 0.9, in_row=1)
    assert (touch.seeds, touch.episodes.value) == ("2 of 2", (100 + 125) / 2)


def test_pooled_runs_are_cut_to_the_shortest():
    first = {"ka": curves([0.1, 0.2, 0.3]), "rnd": curves([0.0, 0.0, 1.0])}
    second = {"rnd": curves([0.4, 0.5], [0.6, 0.7]), "km": curves([0.0, 0.0])}
    pooled = pool_curves([first, second])
    assert list(pooled) == ["rnd"]
    np.testing.assert_array_equal(pooled["rnd"].episodes, [25, 50])
    np.testing.assert_array_equal(pooled["rnd"].seeds, [0, 1, 2])
    np.testing.assert_array_equal(
        pooled["rnd"].scores["success_loose"], [[0.0, 0.0], [0.4, 0.5], [0.6, 0.7]]
    )


def test_runs_that_cannot_be_pooled_are_explained():
    every_25 = {"rnd": curves([0.0, 0.0])}
    every_50 = {"rnd": Curves(np.arange(1), 50.0 * np.arange(1, 3), {})}
    with pytest.raises(InputError, match="after the same episodes"):
        pool_curves([every_25, every_50])
    with pytest.raises(InputError, match="in common"):
        pool_curves([every_25, {"ka": curves([0.0, 0.0])}])


def test_merged_curves_are_named_by_run_and_cut_to_the_shortest():
    """The shortest run ends after 50 episodes; `slow` has one test until then."""
    slow = Curves(np.arange(1), np.array([50.0, 100.0]), {"success": np.eye(2)[:1]})
    found = merge_curves({"": {"ka": curves([0.1, 0.2])}, "slow": {"ka": slow}})
    assert list(found) == ["ka", "ka, slow"]
    np.testing.assert_array_equal(found["ka"].scores["success_loose"], [[0.1, 0.2]])
    np.testing.assert_array_equal(found["ka, slow"].episodes, [50])
    np.testing.assert_array_equal(found["ka, slow"].scores["success"], [[1.0]])
    with pytest.raises(InputError, match="slow was first tested after 50 episodes"):
        merge_curves({"": {"ka": curves([0.1])}, "slow": {"ka": slow}})


def test_curves_are_cut_to_the_shortest_seed(tmp_path):
    write(tmp_path, "ka/seed-1", [(7504, 0.5), (15000, 1.0), (22504, 1.0)])
    write(tmp_path, "ka/seed-0", [(7504, 0.25), (15000, 0.75)])
    write(tmp_path, "rnd/seed-0", [(7504, 0.0), (15000, 0.0)])
    found = load_curves(tmp_path, episode_steps=300)
    assert list(found) == ["ka", "rnd"]
    np.testing.assert_array_equal(found["ka"].seeds, [0, 1])
    np.testing.assert_array_equal(found["ka"].episodes, [25, 50])
    expected = [[0.25, 0.75], [0.5, 1.0]]
    np.testing.assert_array_equal(found["ka"].scores["success_loose"], expected)


@pytest.mark.parametrize(
    ("episode_steps", "episodes"), [(300, [25, 50]), (100, [75, 150])]
)
def test_steps_are_converted_to_episodes_of_the_task(tmp_path, episode_steps, episodes):
    write(tmp_path, "ka/seed-0", [(7504, 0.25), (15000, 0.75)])
    found = load_curves(tmp_path, episode_steps=episode_steps)
    np.testing.assert_array_equal(found["ka"].episodes, episodes)


def test_saved_curves_read_back(tmp_path):
    runs, table = tmp_path / "runs", tmp_path / "curves.csv"
    write(runs, "ka/seed-0", [(7504, 0.25), (15000, 0.75)])
    write(runs, "near+rnd-0.5/seed-3", [(7504, 0.5), (15000, 1.0)])
    save_curves(runs, table)
    assert table.read_text().startswith("starts,seed,step,success_loose,reward\nka,0,")
    from_runs, from_table = (
        load_curves(path, episode_steps=300) for path in (runs, table)
    )
    assert list(from_runs) == list(from_table)
    for kind, expected in from_runs.items():
        np.testing.assert_array_equal(from_table[kind].seeds, expected.seeds)
        np.testing.assert_array_equal(from_table[kind].episodes, expected.episodes)
        for name, values in expected.scores.items():
            np.testing.assert_array_equal(from_table[kind].scores[name], values)


def test_the_table_lists_the_best_first_and_counts_seeds_that_reach_the_level():
    found = {
        "rnd": curves([0.0, 0.9], [0.0, 0.9]),
        "ka": curves([1.0, 1.0], [0.0, 0.0]),
    }
    text = format_comparison(found, levels=[0.9], in_row=1)
    lead, _, _, ka, rnd, _, _, ka_area, rnd_area = text.splitlines()
    assert lead == "Strict success in 1 tests in a row, up to 50 episodes."
    assert ka.startswith("ka      ")
    assert "1 of 2" in ka and "38 (25 to 50)" in ka
    assert rnd.startswith("rnd") and "50 (50 to 50)      " in rnd
    assert ka_area.split()[:2] == ["ka", "0.500"]  # areas 1 and 0
    assert "0.500 (0.000 to 1.000)" in ka_area
    assert rnd_area.startswith("rnd") and "0.450 (0.450 to 0.450)" in rnd_area


def test_only_the_planned_comparison_is_not_corrected():
    """Three seeds each, all apart: p = 0.1, corrected for the other three: 0.3."""
    low, middle, high = (curves(*[[share, share]] * 3) for share in (0.0, 0.5, 1.0))
    late = Curves(low.seeds, 10 * low.episodes, middle.scores)
    found = {"rnd": late, "ka": high, "km": middle}
    text = format_comparison(found, levels=[0.4, 0.45], in_row=1, planned="ka")
    rows = [line.split() for line in text.splitlines() if line[:2] in ("ka", "km")]
    cells = [
        [cell for cell in row if cell in ("0.100", "0.300", "planned")] for row in rows
    ]
    assert cells[0] == ["0.100", "planned"]
    assert cells[1] == cells[2] == cells[3] == ["0.100", "0.300"]
    with pytest.raises(InputError, match="no curves of 'wkm'"):
        format_comparison(found, planned="wkm")


def test_missing_curves_are_an_error(tmp_path):
    for path in (tmp_path, tmp_path / "none.csv"):
        with pytest.raises(InputError, match="has no learning curves"):
            load_curves(path, episode_steps=300)
    with pytest.raises(InputError, match="has no learning curves"):
        save_curves(tmp_path, tmp_path / "curves.csv")
    write(tmp_path, "ka/seed-0", [])
    with pytest.raises(InputError, match="has not been tested yet"):
        load_curves(tmp_path, episode_steps=300)
    with pytest.raises(InputError, match=r"no curves of 'rnd' .* only of ka"):
        format_comparison({"ka": curves([1.0])})


def test_clones_with_few_tests_are_left_out_of_comparisons():
    kinds = {"rnd": curves([0, 0, 1, 1]), "clone-rnd": curves([1])}
    assert list(leave_out_clones(kinds)) == ["rnd"]
    assert list(leave_out_clones(kinds, 1)) == ["rnd", "clone-rnd"]
    text = format_comparison(kinds)
    assert "rnd" in text and "clone-rnd" not in text
    with pytest.raises(InputError, match="at most the number of tests"):
        format_comparison({"rnd": curves([0, 0, 1, 1]), "ka": curves([1])})


def test_tests_that_end_early_do_not_hide_what_others_need():
    """One kind arrives at once and stops; the other arrives after four tests."""
    early = curves([1.0, 1.0], [1.0, 1.0])
    late = Curves(
        np.arange(2), np.array([25, 50, 75, 100]), {"success": np.eye(4)[[3, 3]]}
    )
    found = compare(early, late, 0.9, in_row=1)
    assert (found.episodes.value, found.ratio.value) == (25, 0.25)
    unfinished = curves([0.0, 0.0], [0.0, 1.0])
    assert find_common_horizon([unfinished, late], 0.9, in_row=1) == 50
    kinds = {"rnd": late, "ka": early, "km": unfinished}
    text = format_comparison(kinds, levels=[0.9, 0.0], in_row=1)
    assert "up to 50 (90%) or 100 (0%) episodes" in text
    assert text.endswith("kinds were tested at different times.")


def test_the_length_of_episodes_is_that_of_the_run_and_clones_have_none(tmp_path):
    for name, text in (
        ("rnd/seed-0", "step,episode,return,length\n150,0,1.0,150\n170,1,1.0,20\n"),
        ("clone-rnd/seed-0", "step,episode,shown,loss\n500,0,400,0.1\n"),
    ):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "episodes.csv").write_text(text)
    assert find_episode_steps(tmp_path) == 150
    (tmp_path / "rnd/seed-0/episodes.csv").unlink()
    with pytest.raises(InputError, match="has no episodes"):
        find_episode_steps(tmp_path)
