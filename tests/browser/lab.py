"""A real JupyterLab, started alone and driven in headless Chromium.

    with lab.running(folder) as server:
        notebook = lab.Notebook(page, server)
        notebook.open("01_roofline.ipynb")
        assert notebook.run_all() == []

Opening a notebook writes checkpoints beside it: give a copy.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

START_S = 90
RUN_MS = 180_000

_FOLDERS = {
    "HOME": "home",
    "IPYTHONDIR": "ipython",
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
}
_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    # Otherwise cells off the screen may not be in the DOM.
    "notebook-extension/tracker": {"windowingMode": "none", "kernelShutdown": True},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "docmanager-extension/plugin": {"autosave": False},
}
_OPTIONS = (
    "--no-browser",
    "--allow-root",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port=0",
    "--ServerApp.terminals_enabled=False",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
    "--LabApp.news_url=",
    "--LabApp.extension_manager=readonly",
)

_READY = """() => {
  const context = window.jupyterapp?.shell?.currentWidget?.context;
  return Boolean(context?.isReady && context.sessionContext?.isReady
    && context.sessionContext.session?.kernel?.status === 'idle');
}"""
# The command resolves to false after an error instead of failing, so its result says little:
# the cells' own models say which of them ran, and what they left.
_RUN = "() => window.jupyterapp.commands.execute('notebook:run-all-cells')"
_CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => cell.model.type === 'code')
  .map(cell => ({
    source: cell.model.sharedModel.getSource(),
    count: cell.model.executionCount,
    outputs: cell.model.outputs.toJSON(),
  }))"""
_SHUT = """async () => {
  const notebook = window.jupyterapp.shell.currentWidget;
  await notebook.context.sessionContext.shutdown();
  notebook.close();
}"""


@dataclass(frozen=True)
class Server:
    """A running JupyterLab: its address, and the file that holds its log."""

    url: str
    token: str
    log: Path

    def address(self, path: str) -> str:
        """Address of a path of this server, with the token; `reset` drops old workspaces."""
        return f"{self.url}/{path}?reset&token={self.token}"


def _environment(folder: Path) -> dict[str, str]:
    """A user who has never run Jupyter before."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON"))}
    for name, leaf in _FOLDERS.items():
        (folder / leaf).mkdir()
        env[name] = str(folder / leaf)
    for plugin, values in _SETTINGS.items():
        path = folder / "settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), "utf-8")
    env.pop("PRIMER_BOOK", None)  # it would make every explorable a still picture
    return env | {"JUPYTER_PLATFORM_DIRS": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


@contextlib.contextmanager
def running(root: Path, *, python: str = sys.executable) -> Iterator[Server]:
    """A JupyterLab over the notebooks in `root`, with a configuration of its own."""
    with tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        env, token, log = _environment(folder), secrets.token_hex(16), folder / "server.log"
        command = [python, "-m", "jupyterlab", *_OPTIONS]
        # In the environment, so that no list of processes shows it.
        env["JUPYTER_TOKEN"] = token
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*command, f"--ServerApp.root_dir={root}"],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                yield _wait(process, Server("", token, log), folder / "runtime")
            finally:
                _stop(process)


def _wait(process: subprocess.Popen[bytes], server: Server, runtime: Path) -> Server:
    """Wait until the server answers; it says its port in a file."""
    said = runtime / f"jpserver-{process.pid}.json"
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"JupyterLab ended at once:\n{server.log.read_text()[-3000:]}")
        with contextlib.suppress(OSError, ValueError):
            url = json.loads(said.read_text("utf-8"))["url"].rstrip("/")
            status = f"{url}/api/status?token={server.token}"
            with urllib.request.urlopen(status, timeout=5):
                return Server(url, server.token, server.log)
        time.sleep(0.1)
    raise TimeoutError(f"JupyterLab did not answer within {START_S} s")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server and its kernels: it asks nothing on SIGTERM."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


@dataclass(frozen=True)
class Problem:
    """A cell that did not run, or left an error."""

    source: str
    said: str


class Notebook:
    """One notebook in one page."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server

    def open(self, name: str) -> None:
        """Open it and wait for its kernel."""
        address = self.server.address(f"lab/tree/{name}")
        self.page.goto(address, wait_until="domcontentloaded")
        self.page.wait_for_function(_READY, timeout=RUN_MS)

    def run_all(self) -> list[Problem]:
        """Run every cell; the cells that went wrong."""
        self.page.set_default_timeout(RUN_MS)
        self.page.evaluate(_RUN)
        return self.problems()

    def problems(self) -> list[Problem]:
        """Cells without a number (not run), with an error or with text on stderr."""
        found = ((cell["source"], _complaint(cell)) for cell in self.page.evaluate(_CELLS))
        return [Problem(source, said) for source, said in found if said]

    def output_of(self, explorable_id: str) -> Locator:
        """The output area that holds the live figure of that id, controls included."""
        figure = f'figure.explorable[data-explorable="{explorable_id}"]'
        return self.page.locator(f".jp-Notebook .jp-OutputArea-output:has({figure})")

    def shut(self) -> None:
        """End the kernel and close the notebook without saving."""
        self.page.evaluate(_SHUT)


def _complaint(cell: Mapping[str, Any]) -> str:
    errors = [
        f"{output['ename']}: {output['evalue']}" if output["output_type"] == "error" else output
        for output in cell["outputs"]
        if output["output_type"] == "error" or output.get("name") == "stderr"
    ]
    if errors:
        return "; ".join(str(error) for error in errors)
    return "" if cell["count"] is not None or not cell["source"].strip() else "did not run"
