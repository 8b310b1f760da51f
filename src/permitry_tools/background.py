"""The tools `run_shell_bg`, `check_shell_bg` and `kill_shell_bg`: commands that go on while the agent works."""

from pydantic import Field

from permitry.port import ToolError, ToolLimits, ToolRegistry, ToolTraits
from permitry_tools._kept import Kept
from permitry_tools._process import ProcessGroup, default_shell, launch
from permitry_tools._spec import ROLES, RUNS, Arguments, require, tool
from permitry_tools.shell.patching import refuse_patch
from permitry_tools.shell.run_shell import check_terminal
from permitry_tools.workspace import Workspace

__all__ = ["register"]

_MOST_JOBS = 16
_SHOWN = 15_000
"""The characters of output that are shown where some are on disk alone; they fit the output limit."""

_CHECKS = ToolTraits(read_only=True, destructive=False, idempotent=False, open_world=False, spawns_agent=False)
_KILLS = ToolTraits(read_only=False, destructive=False, idempotent=True, open_world=False, spawns_agent=False)


class RunShellBg(Arguments):
    """The arguments of `run_shell_bg`."""

    command: str = Field(min_length=1, description="The command, as for `bash -c`, run in the workspace.")


class Job(Arguments):
    """The arguments of `check_shell_bg` and `kill_shell_bg`."""

    job_id: int = Field(description="The number that `run_shell_bg` answered.")


def register(registry: ToolRegistry, workspace: Workspace) -> None:
    """Add the tools for jobs to `registry`; the jobs are of this registry, and are killed when it is closed."""
    jobs: Kept[ProcessGroup] = Kept(
        _MOST_JOBS, f"There are {_MOST_JOBS} background jobs; end one with kill_shell_bg, or check those that finished."
    )
    registry.closing(jobs.close)
    shell = default_shell()
    # They touch the jobs alone: they need not wait for other tools to end, which may be waiting for a job.
    apart = ToolLimits(resource=None)

    @tool(
        registry, RunShellBg, "Start a shell command in the workspace and go on.", RUNS,
        require("command", "run_shell_bg requires command"), check_terminal, refuse_patch,
        roles={"command": ROLES.COMMAND},
    )  # fmt: skip
    def run_shell_bg(arguments: RunShellBg) -> tuple[bool, str]:
        job = ProcessGroup([shell, "-c", arguments.command], workspace.root, is_merged=True)
        number = jobs.add(job)
        try:
            with launch(job) as process:
                return True, f"Background job started: job_id={number}, pid={process.pid}"
        except BaseException:
            jobs.drop(number)
            raise

    @tool(
        registry, Job, "Show the output of a background job, and whether it still runs.", _CHECKS,
        require("job_id", "check_shell_bg requires job_id"), limits=apart,
    )  # fmt: skip
    def check_shell_bg(arguments: Job) -> tuple[bool, str]:
        job = _find(jobs.get(arguments.job_id), arguments)
        pid = job.started().pid
        (capture,) = job.captures
        if not job.ended.is_set():
            return True, f"[job {arguments.job_id} still running, pid={pid}]\n{capture.output.shown(_SHOWN)}"
        jobs.drop(arguments.job_id)
        capture.finish()
        return job.code == 0, f"[job {arguments.job_id} finished, exit_code={job.code}]\n{capture.output.shown(_SHOWN)}"

    @tool(
        registry, Job, "Kill a background job.", _KILLS, require("job_id", "kill_shell_bg requires job_id"),
        limits=apart,
    )  # fmt: skip
    def kill_shell_bg(arguments: Job) -> tuple[bool, str]:
        _find(jobs.drop(arguments.job_id), arguments).kill()
        return True, f"Background job {arguments.job_id} killed."


def _find(job: ProcessGroup | None, arguments: Job) -> ProcessGroup:
    if job is None:
        raise ToolError(f"No background job with id {arguments.job_id}")
    return job
