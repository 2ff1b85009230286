"""Browser tests are skipped without a browser, unless one is required."""

import runpy
import shutil

import pytest

from tests.report import browsers


@pytest.mark.parametrize("required", [True, False])
def test_a_missing_browser_skips_tests_unless_it_is_required(monkeypatch, required):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setenv("KACCESS_REQUIRE_BROWSER", "1" if required else "0")
    loaded = runpy.run_path(browsers.__file__)
    (skipped,) = loaded["needs_chromium"].args
    assert skipped != required


def test_a_required_browser_that_is_missing_fails_the_test(monkeypatch):
    monkeypatch.setattr(browsers, "MISSING", "Chromium is missing.")
    message = "KACCESS_REQUIRE_BROWSER=1 requires a browser. Chromium is missing."
    with (
        pytest.raises(pytest.fail.Exception, match=message),
        browsers.chromium(),
    ):
        pass
