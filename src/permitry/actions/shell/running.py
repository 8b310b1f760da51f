"""Tables of programs that run other programs: their options, and how many words each option takes."""

import re
from collections.abc import Mapping

import attrs

from permitry.core.action import Word

__all__ = [
    "ANY_COMMAND",
    "ELSEWHERE",
    "FIRST_OPERAND",
    "LISTED_OPTIONS",
    "LITERAL",
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
# A string literal without a closing quote ends with the text, so that finding literals takes linear time.
LITERAL = re.compile(r""""((?:[^"\\]|\\.?)*+)(?:"|\Z)|'((?:[^'\\]|\\.?)*+)(?:'|\Z)""", re.DOTALL)
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

    `leading` operands stand before the command. `valued` and `plain` are the letters of short options with a value and
    without one; `long` are long options, with how many of the next words they take. `sets`: a word with an equals sign
    before the command sets a variable.
    """

    leading: int = 0
    valued: str = ""
    plain: str = ""
    long: Mapping[str, int] = attrs.field(factory=dict, hash=False)
    sets: bool = False

    def is_assignment(self, word: Word) -> bool:
        """Return whether a word before the command sets a variable: no path, which `sudo` runs."""
        return self.sets and "=" in word.text and not word.text.startswith("/")

    def takes(self, option: str) -> int | None:
        """Return how many of the next words an option takes as its values; None if that is not known."""
        if option.startswith("--"):
            return 0 if "=" in option else self.long.get(option)
        for at, letter in enumerate(option[1:], start=2):
            if letter in self.valued:
                return int(at == len(option))
            if letter not in self.plain and not letter.isdigit():
                return None
        return 0


def _long(**names: str) -> dict[str, int]:
    """Return long options by how many words they take: `none`, `one` or `two`."""
    counts = {"none": 0, "one": 1, "two": 2}
    return {f"--{option}": counts[count] for count, options in names.items() for option in options.split()}


WRAPPERS = {
    "-": Wrapper(sets=True),
    "arch": Wrapper(),
    "builtin": Wrapper(),
    "bwrap": Wrapper(
        long=_long(
            none="as-pid-1 assert-userns-disabled clearenv die-with-parent disable-userns new-session share-net "
            "unshare-all unshare-cgroup unshare-cgroup-try unshare-ipc unshare-net unshare-pid unshare-user "
            "unshare-user-try unshare-uts",
            one="add-seccomp-fd argv0 block-fd cap-add cap-drop chdir dev dir exec-label file-label gid hostname "
            "info-fd json-status-fd lock-file mqueue overlay-src perms pidns proc remount-ro ro-overlay seccomp size "
            "sync-fd tmp-overlay tmpfs uid unsetenv userns userns-block-fd userns2",
            two="bind bind-data bind-fd bind-try chmod dev-bind dev-bind-try file ro-bind ro-bind-data ro-bind-fd "
            "ro-bind-try setenv symlink",
        )
    ),
    "caffeinate": Wrapper(0, "tw", "disum"),
    "catchsegv": Wrapper(),
    "cgexec": Wrapper(0, "g"),
    "choom": Wrapper(0, "np"),
    "chpst": Wrapper(0, "ubnemdofrc/", "Pv012"),
    "chroot": Wrapper(1),
    "chrt": Wrapper(1, "TPD", "abdfimoprRv"),
    "cttyhack": Wrapper(),
    "cpulimit": Wrapper(0, "lpe", "bcfikmqsvz"),
    "dbus-run-session": Wrapper(),
    "dotenv": Wrapper(0, "ef"),
    "eatmydata": Wrapper(),
    "entr": Wrapper(0, "", "acdnprsxz"),
    "expect": Wrapper(),
    "faketime": Wrapper(1),
    "doas": Wrapper(0, "Cu", "Lns"),
    "env": Wrapper(0, "uCP", "i0v", sets=True),
    "exec": Wrapper(0, "a", "cl"),
    "fakeroot": Wrapper(),
    "firejail": Wrapper(),
    "flatpak-spawn": Wrapper(long=_long(none="clear-env host latest-version no-network sandbox verbose watch-bus")),
    "flock": Wrapper(1, "wE", "censuxoFv"),
    "gdb": Wrapper(),
    "ionice": Wrapper(0, "cnpPu", "t"),
    **dict.fromkeys(("i386", "linux32", "linux64", "uname26", "x86_64"), Wrapper()),
    "ltrace": Wrapper(0, "aADeFlnopsuwxX", "bcCfhiLrStTV"),
    "mpirun": Wrapper(),
    "nice": Wrapper(0, "n"),
    "nocorrect": Wrapper(sets=True),
    "noglob": Wrapper(sets=True),
    "nohup": Wrapper(),
    "npx": Wrapper(0, "pc", "yq"),
    "nsenter": Wrapper(0, "tSG", "aFZ"),
    "numactl": Wrapper(),
    "pkexec": Wrapper(),
    "prlimit": Wrapper(0, "p"),
    "proot": Wrapper(0, "rbqwv"),
    "proxychains": Wrapper(0, "f", "q"),
    "proxychains4": Wrapper(0, "f", "q"),
    "rlwrap": Wrapper(),
    "run0": Wrapper(),
    "runuser": Wrapper(0, "ugGsw", "lmpfP"),
    "setarch": Wrapper(1),
    "setpriv": Wrapper(),
    "setsid": Wrapper(0, "", "cfw"),
    "source": Wrapper(),
    ".": Wrapper(),
    "ssh-agent": Wrapper(0, "aEtOP", "cdDsk"),
    "sshpass": Wrapper(0, "fdpP", "ehvV"),
    "stdbuf": Wrapper(0, "ioe"),
    "strace": Wrapper(0, "aeEIobpPsSuUX", "cCdfFhiknqrtTvVwxyYzZ"),
    "sudo": Wrapper(0, "ugpChrtTDRUa", "AbBEHnPSskKeilvV", sets=True),
    "systemd-inhibit": Wrapper(long=_long(none="no-ask-password no-legend no-pager", one="mode what who why")),
    "systemd-run": Wrapper(0, "pEHMu", "GPqrSt"),
    "taskset": Wrapper(1, "", "acp"),
    "time": Wrapper(0, "fo", "apqvlhV"),
    "timeout": Wrapper(1, "ks", "vfp"),
    "systemd-nspawn": Wrapper(0, "DEMSipu", "abnqUxP"),
    "torsocks": Wrapper(0, "u", "iqd"),
    "tsocks": Wrapper(),
    "unbuffer": Wrapper(0, "", "p"),
    "unshare": Wrapper(0, "SGRw", "cCfimnprTuU"),
    "uvx": Wrapper(),
    "valgrind": Wrapper(),
    "watchexec": Wrapper(0, "efiwds"),
    "xvfb-run": Wrapper(0, "enfswp", "al"),
    # Commands of Tcl that `expect` has.
    **dict.fromkeys(("spawn", "system"), Wrapper()),
    **dict.fromkeys(("bunx", "catatonit", "daemonize", "ifne", "runcon", "rr", "heaptrack", "wsl"), Wrapper()),
    **dict.fromkeys(("gosu", "su-exec", "setuidgid", "envuidgid", "s6-setuidgid", "envdir", "setlock"), Wrapper(1)),
    "chronic": Wrapper(0, "", "ev"),
    "dumb-init": Wrapper(0, "r", "cvVh"),
    "dtach": Wrapper(1, "eErR", "AcnNaz"),
    "screen": Wrapper(0, "cehpSstT", "aAdDiLlmOqrRUvwxX"),
    "sem": Wrapper(0, "jISaN", "kmqtX0u"),
    "sg": Wrapper(1, "", "-"),
    "tini": Wrapper(0, "pe", "svwgl"),
    "tini-static": Wrapper(0, "pe", "svwgl"),
    "tsp": Wrapper(0, "LNDWE", "nfmdB"),
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
    return WRAPPERS.get(name) or (Wrapper() if _LOADER.fullmatch(name) else None)


ELSEWHERE = frozenset(
    {"adb", "chroot", "docker", "docker-compose", "kubectl", "lxc", "nerdctl", "oc", "podman", "proot", "ssh"}
    | {"systemd-nspawn", "vagrant", "wsl"}
)
"""Programs that run commands on another machine, or where paths lead elsewhere."""

_CONTAINER = Wrapper(
    1,
    "acehlmpuvw",
    "dditPqT",
    _long(
        none="detach init interactive privileged rm tty",
        one="entrypoint env env-file name network user volume workdir",
    ),
)

SUBCOMMANDS = {
    **{
        (name, command): _CONTAINER for name in ("docker", "podman", "nerdctl") for command in ("exec", "run", "create")
    },
    **{(name, "exec"): Wrapper() for name in ("asdf", "bundle", "mise", "pyenv", "rbenv", "yarn")},
    **{("adb", command): Wrapper(0, "es", "ntTx") for command in ("shell", "exec-out", "exec-in")},
    ("bun", "x"): Wrapper(),
    ("conda", "run"): Wrapper(0, "np"),
    ("direnv", "exec"): Wrapper(1),
    ("docker-compose", "exec"): _CONTAINER,
    ("docker-compose", "run"): _CONTAINER,
    ("hatch", "run"): Wrapper(),
    **{(name, "exec"): Wrapper(1, "cfnp", "itq") for name in ("kubectl", "oc")},
    ("lxc", "exec"): Wrapper(1),
    ("npm", "exec"): Wrapper(0, "c"),
    ("npm", "x"): Wrapper(0, "c"),
    ("gpg-agent", "--daemon"): Wrapper(),
    ("ip", "netns"): Wrapper(2),
    ("perf", "record"): Wrapper(),
    ("perf", "stat"): Wrapper(),
    ("pipenv", "run"): Wrapper(),
    ("pipx", "run"): Wrapper(),
    ("pnpm", "dlx"): Wrapper(),
    ("pnpm", "exec"): Wrapper(),
    ("poetry", "run"): Wrapper(),
    ("rr", "record"): Wrapper(0, "opsv", "nwhu"),
    ("start-stop-daemon", "--start"): Wrapper(),
    ("tox", "exec"): Wrapper(0, "e"),
    ("tox", "e"): Wrapper(0, "e"),
    **{("tmux", command): Wrapper(0, "cefFnstxy", "AdDEPX") for command in ("new-session", "new")},
    **{("tmux", command): Wrapper(0, "ceFnt", "abdkPS") for command in ("new-window", "neww")},
    **{("tmux", command): Wrapper(0, "ceFlpt", "bdfhIvPZ") for command in ("split-window", "splitw")},
    **{("tmux", command): Wrapper(0, "ceEt", "k") for command in ("respawn-pane", "respawnp", "respawn-window")},
    **{("tmux", command): Wrapper(0, "cdt", "bC") for command in ("run-shell", "run")},
    ("uv", "run"): Wrapper(0, "pm", "nqvs"),
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
