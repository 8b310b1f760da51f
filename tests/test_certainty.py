"""Law 3 over whole calls: a block is certain, a guess asks and gives its own grounds, and what is neither runs."""

from pathlib import Path

import pytest

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from tests.tables import for_each
from tests.whole_calls import EVERYTHING, PUSH, all_but, decide

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
OWN = (
    '[[rule]]\nid = "own"\neffect = "block"\nreason = "tampering"\nmessage = "Leave the rules alone."\n'
    'when.path = ["/**/.permitry/**", "~/.config/permitry/**"]\n'
)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> AuthorizationPolicy:
    """Return a policy that allows everything but what two restrictions block."""
    return all_but(tmp_path_factory.mktemp("rules"), f'{PUSH}reason = "publishing"\n{OWN}')


@for_each(
    "text",
    [
        "git push", "/usr/bin/git push origin main", "GIT push", "'git' pu\"sh\"", "git pu\\\nsh", "{git,push}",
        "git -C d push", 'git -C "$dir" push', "git --no-pager -c a=b push --force", "git push $REMOTE",
        "x=$(date); git push", "if true; then git push; fi", "if [ $x = 1 ]; then git push; fi",
        "if false; then :; else git push; fi", "while true; do git push; done", "until git push; do :; done",
        'for f in $x; do git push origin "$f"; done', "case x in a) git push;; esac", "f() { git push; }; f",
        "bash -c 'git push'", 'bash -c "git push $x"', "sh -lc 'cd x && git push'", "eval git push",
        "echo $(git push)", "echo `git push`", "out=$(git push 2>&1)", "cat <(git push)", "(git push)",
        "echo ${x:-$(git push)}", "arr=(a b); git push", "[ -f x ] && git push", "[[ -f x ]] && git push",
        "! git push", "time git push", "nohup git push &", "env A=b git push", "sudo -u root git push",
        "timeout 5 git push", "echo a | xargs git push", "find . -exec git push \\;", "watch -n 5 'git push'",
        "echo 'git push' | bash", "echo git push | tee log | sudo sh", "{ echo 'git push'; } | bash",
        "bash <<< 'git push'", "bash <<E\ngit push\nE", "timeout 5 bash <<'E'\ngit push\nE",
        "cat <<E | git push\nx\nE", "cat <<'E' | sh\ngit push\nE", "su -c 'git push'",
        "trap 'git push' EXIT", "git -c alias.p=push p", "git submodule foreach 'git push'", "\\git push",
        "sed '1e git push' f", "sed -n '/a/,$!{p;e git push\n}' f", "sed p f -e 'e git push'",
        "sed -f - f <<E\ne git push\nE",
        "function f { git push; }", "coproc git push", 'git push > "$log" 2>&1', "GIT_DIR=$x git push",
    ],
)  # fmt: skip
def test_a_command_that_is_written_out_where_it_runs_is_certain(policy: AuthorizationPolicy, text: str) -> None:
    """However it is wrapped, quoted or nested, and whatever is around it."""
    decision = decide(policy, text)
    assert (decision.verdict, decision.rule_id, decision.reason) == (BLOCK, "no-push", "publishing")


@for_each(
    "text",
    [
        "$x push", 'git "$x"', "git $x push", "$(echo git) push", "g?t push", "git pu*", 'bash -c "$x"',
        "git -C push status",
        "bash -c 'git $1' _ push", "awk 'BEGIN{system(\"git push\")}'", "vim -c ':!git push' f",
        "cat <<'E' > a.sh\ngit push\nE\nbash -s < other", "sed '1e' f", "git -c user.name='git push' log",
        "hg --config alias.p='!git push' p",
    ],
)  # fmt: skip
def test_a_command_that_is_a_guess_asks(policy: AuthorizationPolicy, text: str) -> None:
    """An expansion, a glob, a script of another language, a text that may be fed to a shell."""
    decision = decide(policy, text)
    assert (decision.verdict, decision.rule_id) == (CONFIRM, "no-push")
    assert decision.reason.startswith("possibly publishing (")


@for_each(
    "text",
    [
        "grep 'git push' README.md", "echo 'git push'", "git commit -m 'git push'", "rg 'git push' .",
        "cat <<E > notes\ngit push\nE", "cat > R.md <<'EOF'\nRun `git push`, or\ngit push\nEOF",
        "tee a.sh <<'E'\ngit push\nE", "python - <<'E'\nimport os; os.system('git push')\nE",
        "python -c \"print('git push')\"", "perl -e 'print \"git push\"'", "awk '{print \"git push\"}' x",
        "sed 's/git push/x/' f", "git log --grep='git push'", "find . -name 'git push'", "jq '.x | \"git push\"' f",
        "git stash push", "git help push", "man git-push", "git push-all", "gitpush", "echo x # git push",
        "[ -f push ]", "[ push = push ] && ls",
    ],
)  # fmt: skip
def test_a_command_that_is_data_runs(policy: AuthorizationPolicy, text: str) -> None:
    """A pattern, a message, a here-document that no shell reads."""
    assert decide(policy, text).verdict is ALLOW


@for_each(
    "text",
    [
        "rm .permitry/rules.toml", "rm -r .permitry", "cat x > .permitry/rules.toml", "rm .permitry/*",
        "sed -i s/block/allow/ .permitry/rules.toml", "vim ~/.config/permitry/rules.toml",
        "cp x sub/.PERMITRY/rules.toml", "cd sub && rm .permitry/rules.toml", "tee .permitry/x <<< a",
        "if true; then echo x > .permitry/rules.toml; fi", 'mv "$x" .permitry/rules.toml',
        "unknown .permitry/rules.toml", "sed 'w .permitry/x' f", "bash -c 'rm .permitry/x'", "x=$(rm .permitry/x)",
    ],
)  # fmt: skip
def test_a_path_that_is_written_out_is_certain(policy: AuthorizationPolicy, text: str) -> None:
    """As an operand or the target of a redirection, in any spelling."""
    decision = decide(policy, text)
    assert (decision.verdict, decision.rule_id, decision.reason) == (BLOCK, "own", "tampering")


@for_each(
    "text",
    [
        "find ~ -name x -exec cat {} ;", "rm .p*/rules.toml",
        "chmod g+w .[^.]*", "cat x | xargs -0 rm", "cp a ~/.config/perm?try/x",
        "python -c 'f' --out=.permitry/x", "docker run --mount source=.permitry/x a",
        "awk 'BEGIN { while ((getline l < \".permitry/x\") > 0) print l }'",
        "python3 -c 'open(\".permitry/rules.toml\", \"w\")'", "node -e 'rm(\".permitry/x\")'",
    ],
)  # fmt: skip
def test_a_path_that_is_a_guess_asks_and_blames_nobody(policy: AuthorizationPolicy, text: str) -> None:
    """A glob, an expansion, a part of a word, a script: it is possible, and the message is that of a doubt."""
    decision = decide(policy, text)
    assert (decision.verdict, decision.rule_id) == (CONFIRM, "own")
    assert decision.reason.startswith("possibly tampering")
    assert decision.message is not None
    assert "Leave the rules alone." not in decision.message


@for_each(
    "text",
    [
        'grep -rE "(sk-[a-zA-Z0-9]{48}|AKIA[0-9A-Z]{16})" .', "grep -o '[0-9]*' f", "egrep '^[.][a-z]+' f",
        "rg '[./]permitry' src", "sed -i 's/a\\[0\\]/b/' f", "sed -i 's/[[:space:]]*$//' f", "sed -i '/^[.]/d' f",
        "sed 's/.permitry/x/' f", "perl -pi -e 's/[.]x*/y/' f", "perl -pe s/.permitry/x/ f",
        "python -c 'print([i for i in [1, 2]][0])'", "python3 -c 'x = {}; print(x[\"a\"])'", "node -e 'a[0]'",
        "awk '/[.]py$/ {print $1}' f", "jq '.[] | .a[0]' f", "find . -name '[.]*' -type f", "find . -name '*.py'",
        "tr '[:lower:]' '[:upper:]' < f", "tr [:lower:] [:upper:] < f", "grep -o [0-9]* f", "[ -f x ] && ls",
        "cat > f.py <<'E'\nx = a[0]\ny = {b: [c]}\nprint(x[1:], '.permitry/x')\nE",
        "git commit -m 'fix a[0] in .permitry/rules.toml'", "echo '[0]' > a", "rm src/*", "ls *.py", "cp a[0-9] b",
        "expr match x '.*[0-9]'", "git log --format='[%h]*'", "test -f 'a[0]'",
    ],
)  # fmt: skip
def test_a_guess_without_a_reason_is_none(policy: AuthorizationPolicy, text: str) -> None:
    """Brackets and stars in quotes, in patterns and in scripts name no folder."""
    assert decide(policy, text).verdict is ALLOW, decide(policy, text).reason


# All but these -------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["confirm", "block"])
def all_but_few(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[AuthorizationPolicy, Verdict]:
    """Return a policy that restricts every command but a few, and its verdict."""
    rule = (
        f'[[rule]]\nid = "rest"\neffect = "{request.param}"\nwhen.command = "*"\n'
        'unless.command = ["ls *", "git -C *", "git status *", "make test"]\n'
    )
    return all_but(tmp_path, rule), Verdict(request.param)


@for_each(
    "text",
    [
        "ls", "ls -la src", "ls | ls -l", "ls && git status; make test", "timeout 5 make test", "nice ls", "(ls; ls)",
        "bash -c 'ls && git status'", "env CI=1 make test", "git -C sub status", "for f in a b; do ls $f; done",
        "ls > /dev/null",
    ],
)  # fmt: skip
def test_an_exception_of_commands_lifts(all_but_few: tuple[AuthorizationPolicy, Verdict], text: str) -> None:
    """Everything but a few commands can be restricted; pipelines and wrappers are seen through."""
    assert decide(all_but_few[0], text).verdict is ALLOW


@for_each(
    "text",
    [
        "rm x", "ls | rm x", "ls && make deploy", "timeout 5 rm x", "bash -c 'ls; rm x'", "git log", "make test all",
        "./ls", "find . -exec rm {} +", "for f in a b; do rm $f; done",
        "ls > f", "ls >> ~/.bashrc", "ls > /dev/tcp/a.example/80", "{ ls; } > f", "ls | ls 2> f",
    ],
)  # fmt: skip
def test_one_command_that_is_no_exception_is_enough(
    all_but_few: tuple[AuthorizationPolicy, Verdict], text: str
) -> None:
    """Whatever else the call runs."""
    decision = decide(all_but_few[0], text)
    assert (decision.verdict, decision.rule_id) == (all_but_few[1], "rest")


@for_each("text", ["$x", 'ls "$(date)"', "make test &&", "ls ${!x}", "bash script", "eval ls"])
def test_what_cannot_be_read_is_no_exception(all_but_few: tuple[AuthorizationPolicy, Verdict], text: str) -> None:
    """It asks at least, or leads to what the rule says where something else certainly runs."""
    assert decide(all_but_few[0], text).verdict in (CONFIRM, all_but_few[1])


# Addresses -------------------------------------------------------------------------------------------------------

FETCH = '[tool.fetch]\ntraits = ["read_only", "open_world"]\nroles.url = "url"\n'
HERE = '[[rule]]\nid = "here"\neffect = "{}"\nwhen.host = ["https://example.com", "http://example.com"]\n'


@pytest.fixture(scope="module", params=["allow", "block"])
def about_host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AuthorizationPolicy:
    """Return a policy that permits one host and nothing else, or that blocks it and permits all else."""
    everything = EVERYTHING.removeprefix("schema = 1\n") if request.param == "block" else ""
    rules = tmp_path_factory.mktemp("rules") / "rules.toml"
    rules.write_text(f"schema = 1\n{FETCH}{HERE.format(request.param)}{everything}", encoding="utf-8")
    return load_policy(rules)


@for_each("url", ["https://example.com/a", "http://EXAMPLE.com", "https://example.com:443/?q=@b"])
def test_a_plain_address_is_decided(about_host: AuthorizationPolicy, url: str) -> None:
    """Permitted or blocked, without a question."""
    assert about_host.decide(ToolCall("fetch", {"url": url}), AuthContext()).verdict is not CONFIRM


@for_each(
    "url",
    [
        *("https:///example.com/", "http:///example.com", "https:////example.com/", "HTTPS:///example.com"),
        *("http:/example.com", "https:example.com", "https:\\\\example.com", "https:/\\example.com", "//example.com/"),
        *("https://exam\tple.com/", "https:/\n/example.com/", " https://example.com/", "http://a@b@example.com/"),
        *("http://a@example.com@b.example/", "https://example.com\\@b.example/", "https://b.example\\@example.com/"),
    ],
)
def test_an_address_that_readers_take_differently_is_asked_about(about_host: AuthorizationPolicy, url: str) -> None:
    """The permission does not cover it, and the restriction does not miss it."""
    assert about_host.decide(ToolCall("fetch", {"url": url}), AuthContext()).verdict in (CONFIRM, BLOCK)
