"""Tables of programs that run other programs: their options, and how many words each option takes."""

import re

import attrs

from permitry.actions.programs.catalogue import Options, catalogue
from permitry.core.action import Word

__all__ = [
    "ANY_COMMAND",
    "ELSEWHERE",
    "FIRST_OPERAND",
    "LISTED_OPTIONS",
    "OF_SHELLS",
    "PARALLEL",
    "SHELLS",
    "SUBCOMMANDS",
    "WRAPPERS",
    "Inner",
    "Wrapper",
    "opens_computed",
    "runs_computed",
    "wrapper_of",
]

SHELLS = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "ksh93", "mksh", "ash", "rbash", "fish", "csh", "tcsh", "yash", "nu", "pwsh"}
)
_COMPUTED = r"""(?!\s*+(?:[0-9]|"[^"\\]*+"\s*+(?:[;})\n]|\Z)))"""
_RUNS = re.compile(r"(?:(?<!\|)\|(?!\|)&?+|\bsystem\s*\()" + _COMPUTED)
_OPENS = re.compile(r"(?:>>?+(?!=)|\bgetline\b[^;}\n<]{0,99}<)" + _COMPUTED)
_ARGUMENTS = re.compile(r"\bARGV\s*\[[^\]\n]{0,99}\]\s*=(?!=)|\bsplit\s*\([^,\n]{0,99},\s*ARGV\b")
"""Sets the names of the files that a program of `awk` reads."""
_READS_TEXT = re.compile(r"""(?:\A|[;{(\n=])\s*+"[^"\\]*+"\s*+\|&?+(?=\s*+getline\b)""")
_LOADER = re.compile(r"ld(?:64|-linux|-musl|\b)[\w.-]*\.so[\w.]*|ld\.so[\w.]*")


@attrs.frozen
class Inner:
    """A nested command that a program runs: its `words`, or a `text` for a shell.

    `by` is the name of the program that runs it, with a question mark if it is not known to do that. `is_guess`: the
    program may not run it.
    """

    by: str
    words: tuple[Word, ...] = ()
    text: str | None = None
    is_guess: bool = False


ANY_COMMAND = Inner("", (Word("{}", is_open=True),), is_guess=True)


@attrs.frozen
class Wrapper:
    """A program that runs its operands.

    `leading` operands stand before the command, and `optional` ones may. `sets`: a word with an equals sign before the
    command sets a variable. `shows`: options with which it runs nothing.
    """

    leading: int = 0
    options: Options = attrs.field(factory=Options)
    sets: bool = False
    optional: int = 0
    shows: frozenset[str] = frozenset()

    def is_assignment(self, word: Word) -> bool:
        """Return whether a word before the command sets a variable: no path, which `sudo` runs."""
        return self.sets and "=" in word.text and not word.text.startswith("/")

    def takes(self, option: str) -> int | None:
        """Return how many of the next words an option takes as its values; None if that is not known."""
        return 0 if option.startswith("--") and "=" in option else self.options.takes(option)


def _wrapper(
    leading: int = 0,
    valued: str = "",
    plain: str = "",
    *,
    attached: str = "",
    long: Options | None = None,
    optional: int = 0,
) -> Wrapper:
    """Return a wrapper with these letters of short options: with a value, without one, with an attached value only."""
    names = [frozenset(f"-{letter}" for letter in text) for text in (plain, valued, attached)]
    options = Options(names[0], names[1], names[2])
    return Wrapper(leading, options.with_more(long or Options()), optional=optional)


def _long(none: str = "", one: str = "", two: str = "", three: str = "") -> Options:
    """Return long options by how many words they take."""
    plain, valued, doubled, tripled = (
        frozenset(f"--{name}" for name in text.split()) for text in (none, one, two, three)
    )
    return Options(plain, valued, doubled=doubled, tripled=tripled)


PARALLEL = _wrapper(0, "jISaN", "kmqtX0u")
OF_SHELLS = _wrapper(0, "oO", "aefhiklmnprstuvxBCEHPT")
"""What comes before the script of a shell."""

WRAPPERS = {
    "-": Wrapper(sets=True),
    "arch": _wrapper(),
    "builtin": _wrapper(),
    "bwrap": _wrapper(
        long=_long(
            none="as-pid-1 assert-userns-disabled clearenv die-with-parent disable-userns new-session share-net "
            "unshare-all unshare-cgroup unshare-cgroup-try unshare-ipc unshare-net unshare-pid unshare-user "
            "unshare-user-try unshare-uts",
            one="add-seccomp-fd argv0 block-fd cap-add cap-drop chdir dev dir exec-label file-label gid hostname "
            "info-fd json-status-fd lock-file mqueue overlay-src perms pidns proc remount-ro ro-overlay seccomp size "
            "sync-fd tmp-overlay tmpfs uid unsetenv userns userns-block-fd userns2",
            two="bind bind-data bind-fd bind-try chmod dev-bind dev-bind-try file ro-bind ro-bind-data ro-bind-fd "
            "ro-bind-try setenv symlink",
            three="overlay",
        )
    ),
    "caffeinate": _wrapper(0, "tw", "disum"),
    "catchsegv": _wrapper(),
    "cgexec": _wrapper(0, "g"),
    "choom": _wrapper(0, "np"),
    "chpst": _wrapper(0, "ubnemdofrc/", "Pv012"),
    "chroot": _wrapper(1),
    "chrt": _wrapper(0, "TPD", "abdfimoprRv", optional=1),
    "cttyhack": _wrapper(),
    "cpulimit": _wrapper(0, "cePlps", "bfikmqrvz"),
    "dbus-run-session": _wrapper(),
    "dotenv": _wrapper(0, "ef"),
    "eatmydata": _wrapper(),
    "entr": _wrapper(0, "", "acdnprsxz"),
    "expect": _wrapper(),
    "faketime": _wrapper(1),
    "doas": _wrapper(0, "Cu", "Lns"),
    "exec": _wrapper(0, "a", "cl"),
    **dict.fromkeys(("fakechroot", "fakeroot"), _wrapper()),
    "firejail": _wrapper(),
    **dict.fromkeys(("foot", "kitty"), _wrapper()),
    "flatpak-spawn": _wrapper(long=_long(none="clear-env host latest-version no-network sandbox verbose watch-bus")),
    "flock": _wrapper(1, "wE", "censuxoFv"),
    "gdb": _wrapper(),
    "ionice": _wrapper(0, "cnpPu", "t"),
    **dict.fromkeys(("i386", "linux32", "linux64", "uname26", "x86_64"), _wrapper()),
    "ltrace": _wrapper(0, "aADeFlnopsuwxX", "bcCfhiLrStTV"),
    "mpirun": _wrapper(),
    "nocorrect": Wrapper(sets=True),
    "noglob": Wrapper(sets=True),
    "npx": _wrapper(0, "pc", "yq"),
    "nsenter": _wrapper(0, "tSGW", "aFZ", attached="muinpCUTrw"),
    "numactl": _wrapper(),
    "pkexec": _wrapper(),
    "prlimit": _wrapper(0, "op", attached="cdefilmnqrstuvxy"),
    "proot": _wrapper(0, "rbqwv"),
    "proxychains": _wrapper(0, "f", "q"),
    "proxychains4": _wrapper(0, "f", "q"),
    "rlwrap": _wrapper(),
    "run0": _wrapper(),
    "runuser": _wrapper(0, "ugGsw", "lmpfP"),
    "runcon": _wrapper(0, "rtul", "c", optional=1),
    "schedtool": _wrapper(0, "Mapn", "NFRBID0123456789ervh"),
    "setarch": _wrapper(0, "", "hVv3BFILRSTXZ", optional=1),
    "softlimit": _wrapper(0, "acdflmoprst"),
    "setpriv": _wrapper(),
    "setsid": _wrapper(0, "", "cfw"),
    "source": _wrapper(),
    ".": _wrapper(),
    "ssh-agent": _wrapper(0, "aEtOP", "cdDsk"),
    "sshpass": _wrapper(0, "fdpP", "ehvV"),
    "strace": _wrapper(0, "aeEIobpPsSuUX", "cCdfFhiknqrtTvVwxyYzZ"),
    "sudo": attrs.evolve(_wrapper(0, "ugpCrtTDRUa", "AbBEHnNPSskKeilvV"), sets=True),
    "systemd-cat": _wrapper(0, "tp"),
    "systemd-inhibit": _wrapper(long=_long(none="no-ask-password no-legend no-pager", one="mode what who why")),
    "systemd-run": _wrapper(0, "pEHMu", "GPqrSt"),
    "taskset": _wrapper(1, "", "acp"),
    "systemd-nspawn": _wrapper(0, "DEMSipu", "abnqUxP"),
    "torsocks": _wrapper(0, "u", "iqd"),
    "tsocks": _wrapper(),
    "unbuffer": _wrapper(0, "", "p"),
    "unshare": _wrapper(0, "SGRw", "cCfimnprTuU"),
    "uvx": _wrapper(),
    "valgrind": _wrapper(),
    "watchexec": _wrapper(0, "efiwds"),
    "xvfb-run": _wrapper(0, "enfswp", "al"),
    # Commands of Tcl that `expect` has.
    **dict.fromkeys(("spawn", "system"), _wrapper()),
    **dict.fromkeys(("bunx", "catatonit", "daemonize", "ifne", "rr", "heaptrack", "wsl"), _wrapper()),
    **dict.fromkeys(("gosu", "su-exec", "setuidgid", "envuidgid", "s6-setuidgid", "envdir", "setlock"), _wrapper(1)),
    "chronic": _wrapper(0, "", "ev"),
    "dumb-init": _wrapper(0, "r", "cvVh"),
    "dtach": _wrapper(1, "erR", "AcnNazE"),
    "screen": _wrapper(0, "cehpSstT", "aAdDiLlmOqrRUvwxX"),
    "sem": PARALLEL,
    "ssh": _wrapper(1, "BbcDEeFIiJLlmOopPQRSWw", "46AaCfGgKkMNnqsTtVvXxYy"),
    "watch": _wrapper(0, "nq", "bcegtpxwrCv", attached="d"),
    "sg": _wrapper(1, "", "-"),
    "tini": _wrapper(0, "pe", "svwgl"),
    "tini-static": _wrapper(0, "pe", "svwgl"),
    "tsp": _wrapper(0, "LND", "nfmdBEg"),
}
"""Programs whose operands, after the leading ones, are a command."""


def runs_computed(program: str) -> bool:
    """Return whether a program of `awk` may run a command that is not a literal in it."""
    return _RUNS.search(_READS_TEXT.sub("", program)) is not None


def opens_computed(program: str) -> bool:
    """Return whether a program of `awk` may run a command or open a file that is not a literal in it."""
    return runs_computed(program) or _OPENS.search(program) is not None or _ARGUMENTS.search(program) is not None


def wrapper_of(name: str) -> Wrapper | None:
    """Return how a program runs its operands, as does a dynamic loader of any name; None if not known to run them."""
    entry = catalogue().get(name)
    if entry is not None and (entry.wraps or entry.script == "xargs"):
        return Wrapper(entry.leading, entry.known, sets=entry.sets, shows=entry.shows)
    return WRAPPERS.get(name) or (Wrapper() if _LOADER.fullmatch(name) else None)


ELSEWHERE = frozenset(
    {"adb", "chroot", "docker", "docker-compose", "kubectl", "lxc", "nerdctl", "oc", "podman", "proot", "ssh"}
    | {"systemd-nspawn", "vagrant", "wsl"}
)
"""Programs that run commands on another machine, or where paths lead elsewhere."""

_IN_CONTAINER = _long(
    none="detach init interactive privileged rm tty",
    one="entrypoint env env-file name network user volume workdir",
)
_CONTAINER = _wrapper(1, "acehlmpuvw", "ditPqT", long=_IN_CONTAINER)
_EXEC = _wrapper(1, "euw", "ditT", long=_IN_CONTAINER)
_EXEC_OF_PODMAN = _wrapper(0, "euw", "dilt", long=_IN_CONTAINER, optional=1)
"""With `-l`, the container has no name."""

SUBCOMMANDS = {
    **{(name, command): _CONTAINER for name in ("docker", "podman", "nerdctl") for command in ("run", "create")},
    **{(name, "exec"): _EXEC for name in ("docker", "docker-compose", "nerdctl")},
    ("podman", "exec"): _EXEC_OF_PODMAN,
    **{(name, "exec"): _wrapper() for name in ("asdf", "bundle", "mise", "pyenv", "rbenv", "yarn")},
    **{("adb", command): _wrapper(0, "es", "ntTx") for command in ("shell", "exec-out", "exec-in")},
    ("bun", "x"): _wrapper(),
    **{(name, option): _wrapper() for name in ("cmd", "cmd.exe") for option in ("/c", "/C", "//c", "/k")},
    ("conda", "run"): _wrapper(0, "np"),
    ("direnv", "exec"): _wrapper(1),
    ("docker-compose", "run"): _CONTAINER,
    ("hatch", "run"): _wrapper(),
    **{(name, "exec"): _wrapper(1, "cnp", "itq") for name in ("kubectl", "oc")},
    ("lxc", "exec"): _wrapper(1),
    ("npm", "exec"): _wrapper(0, "c"),
    ("npm", "x"): _wrapper(0, "c"),
    ("gpg-agent", "--daemon"): _wrapper(),
    ("ip", "netns"): _wrapper(2),
    ("machinectl", "shell"): _wrapper(1),
    **{("perf", command): _wrapper() for command in ("record", "stat", "top", "trace")},
    ("pipenv", "run"): _wrapper(),
    ("pipx", "run"): _wrapper(),
    ("pnpm", "dlx"): _wrapper(),
    ("pnpm", "exec"): _wrapper(),
    ("poetry", "run"): _wrapper(),
    ("rr", "record"): _wrapper(0, "opsv", "nwhu"),
    ("start-stop-daemon", "--start"): _wrapper(),
    ("tox", "exec"): _wrapper(0, "e"),
    ("tox", "e"): _wrapper(0, "e"),
    **{("tmux", command): _wrapper(0, "cefFnstxy", "AdDEPX") for command in ("new-session", "new")},
    **{("tmux", command): _wrapper(0, "ceFnt", "abdkPS") for command in ("new-window", "neww")},
    **{("tmux", command): _wrapper(0, "ceFlpt", "bdfhIvPZ") for command in ("split-window", "splitw")},
    **{("tmux", command): _wrapper(0, "cet", "k") for command in ("respawn-pane", "respawnp", "respawn-window")},
    **{("tmux", command): _wrapper(0, "cdt", "bC") for command in ("run-shell", "run")},
    ("uv", "run"): _wrapper(0, "pm", "nqvs"),
}
"""Sub-commands whose operands, after the leading ones, are a command."""

LISTED_OPTIONS = {
    "compgen": frozenset({"-C"}),
    "complete": frozenset({"-C"}),
    "fish": frozenset({"-C", "--init-command"}),
    "fzf": frozenset({"--preview", "--bind"}),
    "gdb": frozenset({"-ex", "--eval-command"}),
    "git": frozenset(
        {"-c", "-x", "--exec", "--extcmd", "--upload-pack", "--receive-pack", "-O", "--open-files-in-pager"}
        | {"--config", "--config-env", "--rsh", "--smtp-server", "--to-cmd", "--cc-cmd", "--sendmail-cmd"}
    ),
    "hg": frozenset({"--config"}),
    "man": frozenset({"-P", "--pager", "-H", "--html"}),
    "mapfile": frozenset({"-C"}),
    **dict.fromkeys(("nc", "ncat", "netcat"), frozenset({"-c", "-e", "--exec", "--sh-exec"})),
    "nodemon": frozenset({"-x", "--exec"}),
    "npm": frozenset({"-c", "--call"}),
    "npx": frozenset({"-c", "--call"}),
    "readarray": frozenset({"-C"}),
    "rg": frozenset({"--pre", "--hostname-bin"}),
    "rsync": frozenset({"-e", "--rsh", "--rsync-path"}),
    "scp": frozenset({"-S", "-o"}),
    "screen": frozenset({"-c", "-s"}),
    "sftp": frozenset({"-S", "-o"}),
    "sort": frozenset({"--compress-program"}),
    "split": frozenset({"--filter"}),
    "ssh": frozenset({"-o"}),
    "tar": frozenset(
        {"--to-command", "--checkpoint-action", "--use-compress-program", "-I", "-F", "--info-script"}
        | {"--new-volume-script", "--rsh-command", "--rmt-command"}
    ),
    "systemd-run": frozenset({"-p", "--property"}),
    "tcpdump": frozenset({"-z"}),
    "vagrant": frozenset({"-c", "--command"}),
    "vi": frozenset({"-c", "--cmd"}),
    "vim": frozenset({"-c", "--cmd"}),
    "nvim": frozenset({"-c", "--cmd"}),
    "zip": frozenset({"-TT", "--unzip-command"}),
}
"""Options whose value is a command, or ends with one after an equals sign."""

_PAGER_MARKS = ("+!", "+:!")
FIRST_OPERAND = {
    **dict.fromkeys(("less", "more", "vi", "vim", "nvim", "view", "ex"), _PAGER_MARKS),
    **dict.fromkeys(("ltrace", "strace"), ("|", "!", "-o|", "-o!", "--output=|", "--output=!")),
}
"""Prefixes of an argument after which it is a command."""
