"""The page in a real browser: Chromium, driven by Playwright."""

import pytest

from tests.report.browsers import chromium, needs_chromium

pytestmark = needs_chromium
SECTIONS = 12
LONGEST_TASK = 1000  # [ms], maximum time of one piece of scripting


@pytest.fixture(scope="module")
def browser():
    with chromium("--disable-gpu") as started:
        yield started


@pytest.fixture(params=["light", "dark"])
def scheme(request):
    return request.param


@pytest.fixture
def opened(browser, page, scheme):
    yield from open_page(browser, page, scheme)


@pytest.fixture
def phone(browser, page):
    yield from open_page(browser, page, "light", width=390, height=844)


def open_page(browser, page, scheme, *, width=1280, height=900):
    """Yield the page; fail on console messages and on network requests."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme
    )
    tab = context.new_page()
    messages, requests = [], []
    tab.on("console", lambda message: messages.append(message.text))
    tab.on("pageerror", lambda error: messages.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.add_init_script(
        "window.longTasks = [];"
        "new PerformanceObserver(list => list.getEntries().forEach("
        "entry => longTasks.push(entry.duration))).observe({type: 'longtask'});"
    )
    tab.goto(page.as_uri())
    yield tab
    context.close()
    assert messages == []
    assert [url for url in requests if not url.startswith("data:")] == [page.as_uri()]


def show_graph(tab):
    tab.locator("#pose-graph").scroll_into_view_if_needed()
    tab.wait_for_selector("#graph-canvas[data-ready=true]", timeout=20_000)


def get_heading(tab):
    return tab.locator("#graph-panel h3").inner_text()


def click_node(tab, number):
    """Click the middle of a node."""
    at = tab.evaluate(f"poseGraph.getElementById('{number}').renderedPosition()")
    tab.locator("#graph-canvas").click(position={"x": at["x"], "y": at["y"]})


def count_visible_links(tab):
    """Return the number of visible links after the next frame."""
    return tab.evaluate(
        "async () => {"
        "  const frame = () => new Promise(done => requestAnimationFrame(done));"
        "  await frame(); await frame();"
        "  return poseGraph.edges().filter(edge => edge.visible()).length;"
        "}"
    )


def measure_brightness(tab, what, prop):
    """Return the brightness of a colour, from 0 to 255."""
    script = f"getComputedStyle(document.querySelector('{what}')).{prop}"
    numbers = tab.evaluate(script).split("(")[1].rstrip(")").split(",")[:3]
    return sum(float(number) for number in numbers) / 3


def test_every_section_is_visible(opened):
    sections = opened.locator("main > section")
    assert sections.count() == SECTIONS
    for section in sections.all():
        assert section.locator("h2").is_visible()
        assert section.bounding_box()["height"] > 80


def test_colours_follow_the_setting_of_the_system(opened, scheme):
    ground = measure_brightness(opened, "body", "backgroundColor")
    text = measure_brightness(opened, "body", "color")
    label = measure_brightness(opened, "#figure-times text", "fill")
    assert (ground > 200) == (scheme == "light")
    assert abs(ground - text) > 150 and abs(ground - label) > 150


def test_the_button_switches_between_light_and_dark(opened, scheme):
    before = measure_brightness(opened, "body", "backgroundColor")
    opened.locator("#theme").click()
    after = measure_brightness(opened, "body", "backgroundColor")
    assert (before > 200) == (after < 60)


def test_a_click_on_a_node_shows_its_cluster(opened):
    show_graph(opened)
    assert get_heading(opened) == "All clusters"
    click_node(opened, 1)
    assert get_heading(opened) == "Cluster 1"
    panel = opened.locator("#graph-panel")
    assert "Route to standing from pose" in panel.inner_text()
    size = opened.evaluate(
        "JSON.parse(document.getElementById('graph-content')"
        ".textContent).clusters[1].size"
    )
    assert panel.locator(".members li").count() == size
    assert opened.evaluate("poseGraph.$('.chosen').map(node => node.id())") == ["1"]


def test_hovering_over_a_node_describes_it(opened):
    show_graph(opened)
    at = opened.evaluate("poseGraph.getElementById('0').renderedPosition()")
    opened.locator("#graph-canvas").hover(position={"x": at["x"], "y": at["y"]})
    tip = opened.locator("#graph-tip")
    tip.wait_for(state="visible")
    assert tip.inner_text().startswith("Cluster 0: ")


def test_the_wheel_scrolls_the_page_and_with_ctrl_zooms_the_graph(opened):
    show_graph(opened)
    opened.locator("#graph-canvas").hover()
    look = "[scrollY, poseGraph.zoom()]"
    top, zoom = opened.evaluate(look)
    opened.mouse.wheel(0, 200)
    opened.wait_for_timeout(500)
    after, same = opened.evaluate(look)
    assert after > top and same == zoom
    opened.locator("#graph-canvas").hover()
    opened.wait_for_timeout(700)  # the graph waits until the page stops scrolling
    opened.keyboard.down("Control")
    opened.mouse.wheel(0, 200)
    opened.keyboard.up("Control")
    opened.wait_for_timeout(500)
    assert opened.evaluate(look)[1] != zoom


def test_a_click_on_a_member_shows_its_route(opened):
    show_graph(opened)
    opened.select_option("#graph-cluster", "0")
    member = opened.locator(".members button").last
    number = member.get_attribute("data-pose")
    member.click()
    title = opened.locator("#graph-route").inner_text()
    assert title.startswith(f"Route to standing from pose {number}:")
    pressed = opened.locator(".members button[aria-pressed=true]")
    assert pressed.get_attribute("data-pose") == number


def test_the_threshold_filters_links(opened):
    show_graph(opened)
    slider = opened.locator("#graph-least")
    slider.fill("0.02")
    many = count_visible_links(opened)
    slider.fill("0.6")
    assert count_visible_links(opened) < many
    assert opened.locator("#graph-shown").inner_text().startswith("0.60: ")


def test_the_keyboard_chooses_clusters(opened):
    show_graph(opened)
    opened.locator("#graph-canvas").focus()
    opened.keyboard.press("ArrowRight")
    first = get_heading(opened)
    opened.keyboard.press("ArrowRight")
    second = get_heading(opened)
    assert first != second and second.startswith("Cluster ")
    assert opened.locator("#graph-status").inner_text().startswith(second)
    opened.keyboard.press("ArrowLeft")
    assert get_heading(opened) == first
    opened.keyboard.press("Escape")
    assert get_heading(opened) == "All clusters"


def test_all_controls_and_pictures_have_names(opened):
    show_graph(opened)
    opened.select_option("#graph-cluster", "0")
    for kind in ("button", "select", "input", "[tabindex]", "img", "[role=img]"):
        for found in opened.locator(kind).all():
            name = found.evaluate(
                "e => e.getAttribute('aria-label') || e.alt || e.innerText || "
                "(e.labels && e.labels.length && e.labels[0].innerText) || ''"
            )
            assert name.strip(), f"{kind} without a name"


def test_a_phone_needs_no_sideways_scrolling(phone):
    show_graph(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    for box in phone.locator(".scroll").all():
        assert box.bounding_box()["width"] <= 390


@pytest.mark.slow  # a busy machine would make it fail
def test_no_script_blocks_the_page_for_long(opened):
    show_graph(opened)
    click_node(opened, 1)
    opened.locator("#graph-least").fill("0.6")
    count_visible_links(opened)
    assert max(opened.evaluate("longTasks"), default=0) < LONGEST_TASK
