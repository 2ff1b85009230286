"""Chromium, driven by Playwright.

Tests are skipped where one of them is missing. With KACCESS_REQUIRE_BROWSER=1 they fail
instead, so that a test run cannot skip them unnoticed.
"""

import os
import shutil
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

REQUIRED = os.environ.get("KACCESS_REQUIRE_BROWSER") == "1"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def find_missing():
    """Return a sentence that says what is missing; empty if nothing is."""
    if find_spec("playwright") is None:
        return "Playwright is missing: pip install 'kaccess[browser]'."
    if CHROMIUM is None:
        return "Chromium is missing: apt-get install chromium."
    return ""


MISSING = find_missing()
needs_chromium = pytest.mark.skipif(bool(MISSING) and not REQUIRED, reason=MISSING)


@contextmanager
def chromium(*options):
    """Yield a browser started with the given options."""
    if MISSING:
        pytest.fail(f"KACCESS_REQUIRE_BROWSER=1 requires a browser. {MISSING}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", *options]
        )
        yield browser
        browser.close()
