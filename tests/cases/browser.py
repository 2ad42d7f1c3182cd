"""A real browser for tests of HTML pages: headless Chromium, spoken to over a pipe with the standard library alone.

with Browser() as browser:
    browser.open(path, width=360)
    assert browser.evaluate("document.title") == "..."
    assert browser.errors == []
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: the page was not looked at")

_SWITCHES = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
# Chromium reads commands from file descriptor 3 and answers on 4.
_LAUNCH = (
    "import os, sys; a, b, *words = sys.argv[1:]; os.dup2(int(a), 3); os.dup2(int(b), 4); os.execv(words[0], words)"
)
_PATIENCE = 60.0
_UNDRAWN = "figure:not(.drawn) script[type='application/json']"
"""The data of figures of a report that BokehJS has not drawn yet."""

PLOT = (
    "(f => { const d = JSON.parse(f.querySelector('script').textContent).item;"
    "return Bokeh.index.get_by_id(d.root_id); })"
)
"""A function that returns BokehJS' view of a figure of a report."""


class Browser:
    """One headless browser with one page; use it in a ``with`` block.

    Attributes
    ----------
    errors : list of str
        What the console complained about and what was thrown, since the page was opened.
    requests : list of str
        Every address the page asked for, since it was opened.
    """

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        self._count, self._rest, self.errors, self.requests = 0, b"", [], []
        ends = [*os.pipe(), *os.pipe()]
        # Moved out of the way of 3 and 4, which the launcher overwrites.
        commands, self._write, self._read, answers = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
        for end in ends:
            os.close(end)
        words = [CHROMIUM, *_SWITCHES, f"--user-data-dir={self._folder.name}"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, str(commands), str(answers), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(commands, answers),
            start_new_session=True,
        )
        os.close(commands)
        os.close(answers)
        target = self._send("Target.createTarget", {"url": "about:blank"}, page=False)["targetId"]
        attached = self._send("Target.attachToTarget", {"targetId": target, "flatten": True}, page=False)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._send(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._folder.cleanup()

    def open(self, path, width=1200, height=900, dark=False, script=True):
        """Open a file, or an address, in a window of this size and wait until it has loaded."""
        self.errors, self.requests = [], []
        phone = width < 600
        size = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
        self._send("Emulation.setDeviceMetricsOverride", size)
        self._send("Emulation.setScriptExecutionDisabled", {"value": not script})
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._send("Emulation.setEmulatedMedia", {"features": [scheme]})
        self._loaded = False
        address = str(path) if str(path).startswith(("http://", "about:")) else Path(path).resolve().as_uri()
        self._send("Page.navigate", {"url": address})
        self._until(lambda: self._loaded)
        if script:
            done = f"!document.querySelector({json.dumps(_UNDRAWN)})"
            limit = time.monotonic() + _PATIENCE
            while not self.evaluate(done) and not self.errors:
                assert time.monotonic() < limit, "the figures were never drawn"
                time.sleep(0.02)

    def evaluate(self, expression):
        """Return the value of a JavaScript expression (awaited if it is a promise)."""
        settings = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        answer = self._send("Runtime.evaluate", settings)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def click(self, selector):
        """Press the mouse on the middle of an element."""
        x, y = self._middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})

    def point(self, x, y):
        """Move the mouse to a place of the window."""
        self._send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})

    def press(self, key):
        """Press a key, by its name in JavaScript, e.g. ArrowRight."""
        codes = {
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowRight": 39,
            "ArrowDown": 40,
            "Enter": 13,
            "Tab": 9,
            "Escape": 27,
            " ": 32,
            "Home": 36,
            "End": 35,
        }
        for kind in ("rawKeyDown", "keyUp"):
            self._send("Input.dispatchKeyEvent", {"type": kind, "key": key, "windowsVirtualKeyCode": codes[key]})

    def wait_for(self, expression, seconds=10.0):
        """Wait until a JavaScript expression is true."""
        limit = time.monotonic() + seconds
        while not self.evaluate(expression):
            assert time.monotonic() < limit, f"never became true: {expression}"
            time.sleep(0.02)

    def screenshot(self, path, whole=True):
        """Save a picture of the page."""
        answer = self._send(
            "Page.captureScreenshot", {"captureBeyondViewport": whole, **(self._whole() if whole else {})}
        )
        Path(path).write_bytes(base64.b64decode(answer["data"]))

    def print(self):
        """Print the page on A4 and return the bytes of a PDF."""
        return base64.b64decode(self._send("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"])

    def overflow(self):
        """Return by how many pixels the page is wider than its window."""
        return self.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def heights_of_figures(self):
        """Return the height of each figure's frame, inside which BokehJS has drawn."""
        return self.evaluate(
            f"[...document.querySelectorAll('figure:has(.canvas)')].map(f => {PLOT}(f).frame.bbox.height)"
        )

    def _whole(self):
        size = self._send("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}

    def _middle(self, selector):
        found = self.evaluate(
            f"(() => {{const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            "e.scrollIntoView({block: 'center', behavior: 'instant'}); const b = e.getBoundingClientRect();"
            "return [b.left + b.width / 2, b.top + b.height / 2];})()"
        )
        assert found, f"no element {selector}"
        return found

    def _send(self, method, settings=None, page=True):
        self._count += 1
        number = self._count
        message = {"id": number, "method": method, "params": settings or {}}
        if page:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answers = []
        self._until(lambda: answers, number, answers)
        if "error" in answers[0]:
            raise AssertionError(f"{method}: {answers[0]['error']}")
        return answers[0]["result"]

    def _until(self, done, number=None, answers=None):
        limit = time.monotonic() + _PATIENCE
        while not done():
            for message in self._messages(limit):
                if number is not None and message.get("id") == number:
                    answers.append(message)
                self._notice(message.get("method"), message.get("params", {}))

    def _messages(self, limit):
        ready, _, _ = select.select([self._read], [], [], max(limit - time.monotonic(), 0.0))
        assert ready, "the browser did not answer in time"
        data = os.read(self._read, 1 << 20)
        assert data, "the browser has gone"
        *whole, self._rest = (self._rest + data).split(b"\0")
        return [json.loads(message) for message in whole]

    def _notice(self, method, event):
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.errors.append(str(event["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.errors.append(str(event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.errors.append(event["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
