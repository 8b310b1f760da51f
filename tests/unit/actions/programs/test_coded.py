"""The commands in one-line programs of interpreters."""

import time

from tests.tables import for_each

from permitry.actions.programs.coded import commands_in_code
from permitry.core.action import Word


@for_each(
    ("name", "code", "commands"),
    [
        ("python3", "import os; os.system('git push')", ["git push"]),
        ("python3", 'subprocess.run("git push", shell=True)', ["git push"]),
        ("python3", "subprocess.check_output(['git', 'push'], text=True)", [("git", "push")]),
        ("python3", "os.execvp('git', ('git', 'push'))", [("git", "git", "push"), ("git", "push")]),
        ("node", "require('child_process').execSync(`git push`)", ["git push"]),
        ("node", "spawnSync('git', ['push', '-f'])", [("git", "push", "-f")]),
        ("deno", "new Deno.Command('git', { args: ['push'] })", [("git", "push")]),
        ("perl", 'system "git push"; exec("git", "pull")', ["git push", ("git", "pull")]),
        ("perl5.36", "print `git push`; qx{git pull}", ["git push", "git pull"]),
        ("ruby", "%x(git push); puts %x[git pull]", ["git push", "git pull"]),
        ("php", "shell_exec('git \\'push\\'');", ["git 'push'"]),
        ("perl", "-nesystem q{git push}", ["git push", ("git", "push")]),
        ("perl", "exec q(git), q(push)", [("git", "push")]),
        ("perl", "exec qw/git push/", ["git push", ("git", "push")]),
        ("perl", "open F, 'git push|'", ["git push"]),
        ("ruby", "open('|git push')", ["git push"]),
        ("ruby", "IO.popen(%w[git push])", ["git push", ("git", "push")]),
        ("lua", "os.execute([[git push]])", ["git push", ("git", "push")]),
        ("julia", "run(`git push`)", ["git push"]),
        ("osascript", 'do shell script "git push"', ["git push"]),
        ("elixir", 'System.cmd("git", ["push"])', [("git", "push")]),
        ("erl", 'os:cmd("git push")', ["git push"]),
        ("sbcl", '(uiop:run-program "git push")', ["git push"]),
        ("ocaml", 'Sys.command "git push"', ["git push"]),
        ("perl", "open F, '-|', 'git', 'push'", [("-|", "git", "push"), ("git", "push")]),
        ("python3", "os.posix_spawnp('git', ['git', 'push'], e)", [("git", "git", "push"), ("git", "push")]),
        ("perl", "print qx~git push~", ["git push"]),
        ("ruby", "puts %x<git push", ["git push"]),
        ("perl", "print '| a |'", []),
        ("python3", "print('[INFO] command done')", []),
        ("python3", "print('git push')", []),
        ("node", "console.log(`git push`)", []),
        ("python3", "os.system('ls')", []),
        ("python3", "os.system(f'{x} push'); os.system('$X push')", []),
        ("python3", "subprocess.run([x, 'push'])", []),
    ],
)
def test_the_literals_that_may_be_commands(name: str, code: str, commands: list[str | tuple[str, ...]]) -> None:
    """Only in code that names what starts a program, and not what is computed."""
    found = commands_in_code(name, (Word(name), Word("-c"), Word(code)))
    assert [each.text or tuple(word.text for word in each.words) for each in found] == commands


@for_each("code", ["-" + "a" * 60_000, "qx[" * 20_000, "%x(" * 20_000, "`a" * 30_000, "shell " * 10_000])
def test_any_code_takes_linear_time(code: str) -> None:
    """Whatever it is made of."""
    start = time.process_time()
    list(commands_in_code("perl", (Word("perl"), Word(code))))
    assert time.process_time() - start < 5


def test_there_is_a_limit_on_literals() -> None:
    """A long program costs no more than a short one."""
    code = "system('a b');" * 300
    assert len(list(commands_in_code("perl", (Word("perl"), Word(code))))) == 256
