"""A real browser without a screen, driven over the DevTools protocol, on two pipes."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

PROGRAM = shutil.which("chromium")
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
    # Nothing but this machine is reached.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip
_PATIENCE = 30.0


@attrs.define
class Page:
    """One page of a browser. What happens to it meanwhile is in `events`."""

    reading: int
    writing: int
    session: str | None = None
    events: list[dict[str, Any]] = attrs.field(factory=list)
    _number: int = 0
    _buffer: bytes = b""

    def call(self, method: str, **parameters: object) -> Any:  # noqa: ANN401 -- whatever the protocol returns
        """Call a method of the protocol, and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _read(self) -> Any:  # noqa: ANN401 -- as above
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self.reading], [], [], _PATIENCE)
            assert ready, "the browser does not answer"
            self._buffer += os.read(self.reading, 1 << 20)
        line, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(line)

    def run(self, script: str) -> Any:  # noqa: ANN401 -- as above
        """Return what a script in the page returns."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, address: str) -> None:
        """Load a page."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def wait(self, condition: str) -> float:
        """Wait until a condition holds in the page, and return how many seconds that took."""
        start = time.monotonic()
        while not self._holds(condition):
            assert time.monotonic() - start < _PATIENCE, (condition, self.run("document.body.innerText"))
            time.sleep(0.02)
        return time.monotonic() - start

    def _holds(self, condition: str) -> bool:
        # Between two pages there is none.
        with contextlib.suppress(AssertionError):
            return self.run(f"Boolean({condition})") is True
        return False

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press a key and let it go."""
        for kind in ("keyDown", "keyUp"):
            given = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **given)

    def look(self, *, width: int, dark: bool = False) -> None:
        """Be a screen of this width, in light or dark mode."""
        phone = width < 600
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=phone)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    def screenshot(self, path: Path) -> None:
        """Keep a picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))


@contextlib.contextmanager
def browsing(folder: Path) -> Iterator[Page]:
    """Yield the page of a new browser, which keeps what it has in a folder."""
    assert PROGRAM is not None
    read_command, write_command = os.pipe()
    read_answer, write_answer = os.pipe()
    redirected = f'exec "$0" "$@" 3<&{read_command} 4>&{write_answer}'
    command = ["bash", "-c", redirected, PROGRAM, *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(
        command, pass_fds=(read_command, write_answer), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(read_command)
    os.close(write_answer)
    page = Page(read_answer, write_command)
    try:
        target = page.call("Target.createTarget", url="about:blank")["targetId"]
        page.session = page.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            page.call(f"{domain}.enable")
        yield page
    finally:
        page.session = None
        with contextlib.suppress(AssertionError, OSError):
            page.call("Browser.close")
        process.wait(_PATIENCE)
        os.close(read_answer)
        os.close(write_command)
