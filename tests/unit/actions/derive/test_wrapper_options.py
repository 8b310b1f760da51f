"""Every option of the programs that run another one, in front of a command: no spelling of one hides the command.

`PARSERS` is what the programs themselves give to `getopt`, as found in them, and which operands come before the
command. A colon: the letter before it takes a value; two colons: only one that is attached. Where a program is
installed, it is also run, with a harmless command.
"""

import contextlib
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.tables import for_each

from permitry.actions.derive import opened
from permitry.actions.derive.runners import unfolded
from permitry.actions.programs.catalogue import catalogue, record_of
from permitry.actions.programs.entries import Options
from permitry.actions.programs.running import OF_SHELLS, as_wrapper, wrapper_of
from permitry.core.action import Word

PARSERS = {
    # coreutils 9.1, findutils 4.9, time 1.9, procps 4.0, util-linux 2.38
    "env": "C:iS:u:v0",
    "nice": "n:",
    "nohup": "",
    "stdbuf": "i:o:e:",
    "timeout 5": "k:s:v",
    "chroot /": "",
    "runcon": "r:t:u:l:c",
    "xargs": "0a:E:e::i::I:l::L:n:oprs:txP:d:",
    "time": "af:o:pqvV",
    "watch": "bced::ghq:n:pvtwx",
    "choom": "hn:p:V",
    "chrt 1": "abdD:fiphmoP:T:rRvV",
    "flock f": "sexnoFuw:E:hV",
    "ionice": "n:c:p:P:u:tVh",
    "nsenter": "ahVt:m::u::i::n::p::C::U::T::S:G:r::w::W:FZ",
    "prlimit": "c::d::e::f::i::l::m::n::q::r::s::t::u::v::x::y::p:o:Vh",
    "runuser": "g:G:lmpPs:u:hVw:",
    "setarch": "hVv3BFILRSTXZ",
    "setarch x86_64": "hVv3BFILRSTXZ",
    "setpriv": "dhV",
    "setsid": "Vhcfw",
    "taskset 1": "apchV",
    "unshare": "fhVmuinpCTUrR:w:S:G:c",
    # BSD and macOS
    "/usr/bin/env": "0iu:vP:S:",
    "/usr/bin/xargs": "0E:I:J:L:n:oP:pR:rS:s:tx",
    "caffeinate": "disut:mw:",
    # sudo 1.9, doas 6.8, OpenSSH 9.2, systemd 252, strace 6.1, ltrace 0.7
    "sudo": "Aa:bBC:c:D:eEg:HiklKnNp:PR:r:sSt:T:u:U:vV",
    "doas": "C:Lnsu:",
    "ssh host": "1246ab:c:e:fgi:kl:m:no:p:qstvxAB:CD:E:F:GI:J:KL:MNO:P:Q:R:S:TVw:W:XYy",
    "sshpass": "f:d:p:P:heVv",
    "systemd-run": "hrH:M:E:p:tPqGdSu:",
    "strace": "a:Ab:cCdDe:E:fFhiI:kno:O:p:P:qrs:S:tTu:U:vVwxX:yYzZ",
    "ltrace": "cfhiLrStTVbCa:A:D:e:F:l:n:o:p:s:u:w:x:X:",
    # others of Debian 12
    "cgexec": "g:sh",
    "chpst": "u:U:b:e:m:d:o:p:f:c:r:t:/:n:l:L:vP012V",
    "cpulimit": "p:e:P:l:c:s:bfqkmrvzh",
    "dtach -c s": "e:Er:z",
    "dumb-init": "hvVcr:",
    "parallel": "j:I:a:S:N:kmqtX0u",
    "rlwrap": "a::A::b:cC:d::D:e:Ef:F:g:hH:iIl:nNM:m::oO:p::P:q:rRs:S:t:TUvw:Wz:",
    "schedtool": "NFRBID012345M:a:p:n:ervh",
    "softlimit": "a:c:d:f:l:m:o:p:r:s:t:",
    "tini": "p:hvwgle:s",
    "tmux new-session": "Ac:dDe:EF:f:n:Ps:t:x:Xy:",
    "tmux new-window": "abc:de:F:kn:PSt:",
    "tmux split-window": "bc:de:fF:hIl:p:Pt:vZ",
    "tmux respawn-pane": "c:e:kt:",
    "tsp": "nfmBEN:L:dD:",
    "xvfb-run": "ae:f:hn:lp:s:w:",
}
SAFE_TO_RUN = (
    "chrt 1", "choom", "env", "flock f", "ionice", "nice", "nohup", "prlimit", "setarch", "setpriv", "setsid",
    "stdbuf", "strace", "taskset 1", "time", "timeout 5", "unshare", "xargs",
)  # fmt: skip
PROGRAM = "./marker"
NOBODY = 65534


@attrs.frozen
class Parser:
    """The letters of a program by how they take values."""

    plain: str
    valued: str
    attached: str

    @classmethod
    def of(cls, letters: str) -> "Parser":
        """Return those of a text for `getopt`."""
        found = re.findall(r"([^:])(:{0,2})", letters)
        return cls(*("".join(letter for letter, colons in found if len(colons) == count) for count in (0, 1, 2)))

    def spellings(self) -> Iterator[str]:
        """Yield words before a command, after which the program runs it."""
        every = self.plain + self.valued + self.attached
        for plain in ("", *self.plain):
            yield f"-{plain}{plain}" if plain else ""
            yield from (f"-{plain}{other}" for other in self.plain)
            yield from (f"-{plain}{valued} 1" for valued in self.valued)
            yield from (f"-{plain}{valued}1" for valued in self.valued)
            yield from (f"-{plain}{attached}" for attached in self.attached)
        yield from (f"-{valued}{other}" for valued in self.valued + self.attached for other in every)
        yield from (f"-{first} 1 -{then}" for first in self.valued for then in self.plain + self.attached)


def runs_marker(line: str) -> bool:
    """Return whether the program is among the commands that a line may run."""
    words = tuple(map(Word, line.split()))
    return any(inner.words[:1] == (Word(PROGRAM),) or PROGRAM in (inner.text or "") for inner in unfolded(words))


@for_each("program", PARSERS)
def test_no_spelling_of_an_option_hides_the_command(program: str) -> None:
    """Alone, joined with others, with a value and without: what the program runs is among what it may run."""
    lines = [f"{program} {spelling} {PROGRAM} x" for spelling in Parser.of(PARSERS[program]).spellings()]
    assert [line for line in lines if not runs_marker(line)] == []


FD = "HIuUsigFLpaltedEScdjoqh10V"
"""The letters of fd 10, those that take a value among them: `d`, `t`, `e`, `E`, `S`, `c`, `j` and `o`."""
SU = Parser.of("fg:G:lmpPs:Tw:hV")
"""The letters of util-linux and shadow next to `c`, by which `su` takes a text for a shell."""
ALONE = (
    "-daystart -depth -d -follow -ignore_readdir_race -mount -noignore_readdir_race -noleaf -nowarn -warn -xdev -empty"
    " -executable -false -nogroup -nouser -readable -true -writable -delete -ls -print -print0 -prune ! -not ( ) , -o"
    " -or -a -and"
)
VALUED = (
    "-maxdepth -mindepth -regextype -files0-from -amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group"
    " -ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -newermt -path -perm"
    " -regex -samefile -size -type -uid -used -user -wholename -xtype -fls -fprint -fprint0 -printf"
)
"""The words of an expression of findutils 4.9."""


def of_others() -> Iterator[str]:
    """Yield lines of programs whose command is not what stands behind their options."""
    kinds = ("-exec", "-execdir", "-ok", "-okdir")
    for kind, end in itertools.product(kinds, (";", "{} +")):
        yield from (f"find . {word} {kind} {PROGRAM} x {end}" for word in ALONE.split())
        yield from (f"find . {word} 1 {kind} {PROGRAM} x {end}" for word in VALUED.split())
        yield from (f"find {word} . {kind} {PROGRAM} x {end}" for word in ("-H", "-L", "-P", "-O3", "-D tree"))
        yield f"find . -exec a ; {kind} {PROGRAM} x {end}"
    for option, letter in itertools.product(("-x", "-X", "--exec", "--exec-batch", f"--exec={PROGRAM}"), ("", *FD)):
        yield f"fd {f'-{letter}' if letter else ''} {option} {PROGRAM} x"
        yield f"fd -{letter} 1 a {option} {PROGRAM} x"
        yield f"fd {f'-{letter}1' if letter else ''} a . {option} {PROGRAM} x"
    yield from (f"fd -{letter}{which} {PROGRAM} x" for letter in FD for which in "xX")
    for before in ("", "-", "root", "- root"):
        for spelling in SU.spellings():
            yield f"su {before} {spelling} -c {PROGRAM}"
            yield f"su {spelling} {before} -c{PROGRAM}"
            yield f"su {before} --command={PROGRAM} {spelling}"
            yield f"su {before} --comm {PROGRAM} {spelling}"
        yield from (f"su {before} -{plain}c {PROGRAM}" for plain in SU.plain)
        yield from (f"su {before} -{plain}c{PROGRAM}" for plain in SU.plain)


def test_no_word_hides_the_command_of_find_fd_and_su() -> None:
    """Every word of an expression, and every option, in front of it or attached to it."""
    assert [line for line in of_others() if not runs_marker(line)] == []


@for_each("program", PARSERS)
def test_a_listed_option_takes_what_the_program_says(program: str) -> None:
    """A letter that is listed is one of its program, or of another version, and never of another kind."""
    name, *behind = program.split()
    wrapper = record_of(name).runs_behind.get("".join(behind[:1])) or (
        wrapper_of("sem" if name == "parallel" else Path(name).name)
    )
    assert wrapper is not None
    parser = Parser.of(PARSERS[program])
    taken = {letter: wrapper.options.count(f"-{letter}") for letter in parser.plain + parser.valued + parser.attached}
    known = {letter: count for letter, count in taken.items() if count is not None}
    assert known == {letter: int(letter in parser.valued) for letter in known}


def tables() -> Iterator[tuple[str, Options]]:
    """Yield every table of options, with the name of the program and of the sub-command."""
    for name, entry in catalogue().items():
        yield name, entry.known
        yield name, as_wrapper(name).options
        yield name, Options(valued=entry.runs_values)
        yield from ((f"{name} {command}", inner.known) for command, inner in entry.commands.items())
        yield from ((f"{name} {command}", wrapper.options) for command, wrapper in entry.runs_behind.items())
    yield from ((name, opened.OPTIONS_OF_MAKE) for name in ("make", "gmake"))
    yield from ((name, OF_SHELLS.options) for name in ("bash", "dash", "sh"))
    yield "parallel", as_wrapper("sem").options


def test_no_option_is_in_two_tables_that_disagree() -> None:
    """One says that it takes a value and the other that it takes none: then one of them hides a command."""
    seen: dict[tuple[str, str], set[int | None]] = {}
    for program, options in tables():
        names = itertools.chain(*(getattr(options, kind) for kind in ("plain", "valued", "attached", "separate")))
        for name in names:
            kinds = seen.setdefault((program, name), set())
            kinds.add(options.count(name))
            kinds.update([1] if name in options.valued | options.separate else [])
    assert {each: kinds for each, kinds in seen.items() if len(kinds) > 1} == {}


# The programs themselves ---------------------------------------------------------------------------------------------


@pytest.fixture
def scratch() -> Iterator[Path]:
    """Return an empty folder that any user may write to, with a program that leaves a file there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "marker").write_text("#!/bin/sh\n: > ran\n")
        (folder / "marker").chmod(0o755)
        yield folder


def has_run(line: str, folder: Path) -> bool:
    """Run a line without privileges, and return whether the program has left its file."""
    user: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    environment = {"PATH": os.defpath, "HOME": str(folder)}
    how: dict[str, Any] = {"cwd": folder, "env": environment, "capture_output": True, "timeout": 5, **user}
    with contextlib.suppress(subprocess.TimeoutExpired, PermissionError):
        subprocess.run(line.split(), check=False, input=b"a\n", **how)
    ran = folder / "ran"
    is_there = ran.exists()
    ran.unlink(missing_ok=True)
    return is_there


@pytest.mark.skipif(os.name != "posix", reason="the programs are those of a POSIX system")
@pytest.mark.parametrize("program", SAFE_TO_RUN)
def test_a_program_runs_no_command_that_is_not_seen(program: str, scratch: Path) -> None:
    """Every letter in front of a command, and each listed option: where none is seen, the program starts none."""
    name, *_ = program.split()
    if shutil.which(name, path=os.defpath) is None or not has_run(f"env {PROGRAM}", scratch):
        pytest.skip(f"`{program}` is not here, or runs nothing here")
    wrapper = wrapper_of(name)
    assert wrapper is not None
    valued = sorted(each for each in wrapper.options.valued if len(each) == len("-a"))
    options = [f"-{chr(code)}" for code in range(0x30, 0x7B) if chr(code).isalnum()]
    options += [f"-{plain[1]}{each[1]}" for plain in sorted(wrapper.options.plain)[:3] for each in valued]
    options += [f"{each[:2]}{other[1]}" for each in sorted(wrapper.options.attached) for other in valued]
    options += [each for each in sorted(wrapper.options.valued) if each.startswith("--")]
    lines = [f"{name} {option} {PROGRAM}" for option in options]
    lines += [f"{program} {option} {PROGRAM}" for option in options if " " in program]
    hidden = [line for line in lines if not runs_marker(line)]
    assert [line for line in hidden if has_run(line, scratch)] == []
