"""Debian's Chromium, driven by Playwright."""

import shutil
from contextlib import contextmanager

import pytest

sync_api = pytest.importorskip(
    "playwright.sync_api",
    reason="Playwright is missing: pip install 'kaccess[browser]'",
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is missing: apt-get install chromium"
)


@contextmanager
def chromium(*options):
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", *options]
        )
        yield started
        started.close()
