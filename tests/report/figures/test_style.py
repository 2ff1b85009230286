"""Style of figures in files and on a page."""

import re

from kaccess.report.figures.style import (
    INK,
    SERIES,
    figure_style,
    inline_svg,
    make_figure,
    save_figure,
)


def make_example():
    with figure_style():
        made = make_figure(3, 2)
        ax = made.subplots()
        ax.plot([0, 1], [0, 1], color=SERIES[1], label="line")
        ax.set(xlabel="time [s]", xlim=(0, 0.5))
        ax.legend()
    return made


def test_colours_on_a_page_are_css_variables():
    svg = inline_svg(make_example(), "curve")
    assert f"var(--series-1, {SERIES[1]})" in svg
    bare = re.sub(r"var\([^)]*\)", "", svg)
    assert INK not in bare and SERIES[1] not in bare


def test_figures_on_a_page_have_no_background_and_no_fixed_size():
    svg = inline_svg(make_example(), "curve")
    opening = svg[: svg.index(">")]
    assert "viewBox" in opening and not re.search(r"\b(width|height)=", opening)
    assert "#ffffff" not in svg


def test_ids_in_a_figure_start_with_its_name():
    svg = inline_svg(make_example(), "curve")
    names = re.findall(r'\bid="([^"]+)"', svg)
    used = re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', svg)
    assert names and used
    assert all(name.startswith("curve-") for name in names + used)
    assert set(used) <= set(names)


def test_text_stays_text():
    assert "time [s]</text>" in inline_svg(make_example(), "curve")


def test_files_are_the_same_each_time(tmp_path):
    for name in ("one", "two"):
        save_figure(make_example(), tmp_path / name / "curve.svg")
    first, second = (tmp_path / name / "curve.svg" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    assert b"fill: #ffffff" in first.read_bytes()
