"""The finding `no-anchor`."""

from collections.abc import Iterator

from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]

_KIND = "no-anchor"


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the permissions for paths and hosts without a fixed part, to which there is no exception."""
    for rule in subject.permissions:
        when, unless = rule.scope.when, rule.scope.unless
        for path in when.paths if not any(each.paths for each in unless) else ():
            covered = _find_cover(path.text)
            if covered is not None:
                reason = f"the path `{path.text}` covers {covered}"
                yield report_finding(rule, _KIND, reason, "begin at a folder: `src/**`; or except what is not meant")
        for host in when.hosts if not any(each.hosts for each in unless) else ():
            if host.host == "*":
                reason = f"the host `{host.text}` covers every address, those of your own network included"
                yield report_finding(rule, _KIND, reason, "name the hosts: `example.com`, `*.example.com`")


def _find_cover(text: str) -> str | None:
    anchor, _, rest = text.removeprefix("./").partition("/")
    if anchor in ("", "~") and not rest.strip("/*"):
        return "all of your home folder" if anchor else "every file of the machine"
    if anchor == "" and rest.startswith("**/"):
        return "such a file anywhere on the machine"
    is_top = anchor in ("*", "**") and not rest.strip("/*")
    return "whatever is in the workspace, hidden files and `.git` included" if is_top else None
