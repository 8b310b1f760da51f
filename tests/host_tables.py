"""What other files say of the hosts: `python -m tests.host_tables` writes it from the files of the hosts.

That is the list of paths in a shipped rule, with the quick form of the rules, and the tables of two pages.
"""

import importlib
import re
from pathlib import Path

from permitry.config.catalogue import find_shipped
from permitry_hosts.hooks.hosts import HOSTS, host_named
from tests.docs import test_what_users_see
from tests.hosts import real_hosts
from tests.unit import test_start_up

RULES = find_shipped("permitry:hooks")
DOCS = Path(__file__).parents[1] / "docs"
HOSTS_PAGE = DOCS / "reference/hosts.md"
_PATHS = re.compile(r"(writes them\.\nwhen\.path = \[\n)[^]]*(?=^\])", re.MULTILINE)
_TABLE = re.compile(r"(<!-- table: hosts -->\n\n).*?(?=\n<!-- end -->)", re.DOTALL)


def protect(rules: str) -> str:
    """Return the text of the rules with the files of settings of all hosts, a line for each host."""
    lines = [", ".join(f'"{each}"' for each in host_named(host).settings.protected) for host in HOSTS]
    return _PATHS.sub(lambda found: found[1] + "".join(f"  {line},\n" for line in lines), rules)


def list_hosts(page: str) -> str:
    """Return the text of the page about hosts with a row for each."""
    head = f"| host | word | version | how it was tried | file of the user | file of a project |\n|{'---|' * 6}\n"
    return _TABLE.sub(lambda found: found[1] + head + "".join(map(_row, HOSTS)), page)


def _row(name: str) -> str:
    host = host_named(name)
    title = (importlib.import_module(host.read.__module__).__doc__ or "").partition(":")[0]
    known = re.search(rf"the tools of {title} ([\d.]+):", find_shipped(f"permitry:tools-{name}").read_text("utf-8"))
    version = known[1] if known else "\u2013"
    tried = "seen" if name in real_hosts.HOSTS else "payload"
    files = f"`~/{host.settings.user}` | `{host.settings.project}`"
    return f"| {_link(title)} | `{name}` | {version} | {tried} | {files} |\n"


def _link(title: str) -> str:
    """Return the title, with a link to what is said about this host in detail, if anything is."""
    is_section = f"\n### {title}\n" in (DOCS / "how-to/hooks.md").read_text("utf-8")
    return f"[{title}](../how-to/hooks.md#{title.lower().replace(' ', '-')})" if is_section else title


if __name__ == "__main__":
    RULES.write_text(protect(RULES.read_text("utf-8")), "utf-8")
    test_start_up.write()
    HOSTS_PAGE.write_text(list_hosts(HOSTS_PAGE.read_text("utf-8")), "utf-8")
    test_what_users_see.write()
