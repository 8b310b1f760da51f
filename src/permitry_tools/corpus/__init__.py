"""The document tools: an embedded corpus, and a plugin folder with one tool in each file."""

from pathlib import Path

from permitry.port import PluginFolder, PluginReport, ToolRegistry, load_plugins
from permitry_tools.corpus.service import SEARCH, SERVICE, Corpus

__all__ = ["PLUGINS", "register"]

_WEB = "web_search.py"
PLUGINS = Path(__file__).parent / "plugins"
"""The plugin folder: it loads like any other, with a `Corpus` as the service `corpus`."""


def register(registry: ToolRegistry, corpus: Corpus, **services: object) -> PluginReport:
    """Add the document tools to `registry`, working on `corpus`; `services` are given to them as well.

    Which of them can be called changes with the corpus: without a document, none. `web_search` is among them only with
    a service `web_search`: the name stays free for the tool of `permitry_tools.web`.
    """
    folder = PluginFolder.read(PLUGINS)
    if SEARCH not in services:
        folder = PluginFolder(folder.path, {name: code for name, code in folder.files.items() if name != _WEB})
    return load_plugins(registry, folder, services={**services, SERVICE: corpus})
