import re

from kaccess.report.figures.style import (
    INK,
    SERIES,
    figure_style,
    inline_svg,
    new_figure,
    save_figure,
)


def figure():
    with figure_style():
        made = new_figure(3, 2)
        ax = made.subplots()
        ax.plot([0, 1], [0, 1], color=SERIES[1], label="line")
        ax.set(xlabel="time [s]", xlim=(0, 0.5))
        ax.legend()
    return made


def test_on_a_page_colours_are_variables():
    svg = inline_svg(figure(), "curve")
    assert f"var(--series-1, {SERIES[1]})" in svg
    bare = re.sub(r"var\([^)]*\)", "", svg)
    assert INK not in bare and SERIES[1] not in bare


def test_on_a_page_there_is_no_ground_and_no_fixed_size():
    svg = inline_svg(figure(), "curve")
    opening = svg[: svg.index(">")]
    assert "viewBox" in opening and not re.search(r"\b(width|height)=", opening)
    assert "#ffffff" not in svg


def test_names_within_a_figure_are_its_own():
    svg = inline_svg(figure(), "curve")
    names = re.findall(r'\bid="([^"]+)"', svg)
    used = re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', svg)
    assert names and used
    assert all(name.startswith("curve-") for name in names + used)
    assert set(used) <= set(names)


def test_letters_stay_letters():
    assert "time [s]</text>" in inline_svg(figure(), "curve")


def test_files_are_the_same_each_time(tmp_path):
    for name in ("one", "two"):
        save_figure(figure(), tmp_path / name / "curve.svg")
    first, second = (tmp_path / name / "curve.svg" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    assert b"fill: #ffffff" in first.read_bytes()
