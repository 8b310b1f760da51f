"""The tools `run_shell_bg`, `check_shell_bg` and `kill_shell_bg`: commands that go on while the agent works."""

from pydantic import Field

from permitry.port import ToolError, ToolLimits, ToolRegistry, ToolTraits
from permitry_tools._kept import Kept
from permitry_tools._process import ProcessGroup, default_shell, launch
from permitry_tools._spec import ROLES, RUNS, Arguments, handler, spec
from permitry_tools.shell.patching import refuse_patch
from permitry_tools.shell.run_shell import check_terminal, require
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

    def run_shell_bg(arguments: RunShellBg) -> tuple[bool, str]:
        job = ProcessGroup([shell, "-c", arguments.command], workspace.root, is_merged=True)
        number = jobs.add(job)
        try:
            with launch(job) as process:
                return True, f"Background job started: job_id={number}, pid={process.pid}"
        except BaseException:
            jobs.drop(number)
            raise

    def check_shell_bg(arguments: Job) -> tuple[bool, str]:
        job = _find(jobs.get(arguments.job_id), arguments)
        pid = job.started().pid
        (capture,) = job.captures
        if not job.ended.is_set():
            return True, f"[job {arguments.job_id} still running, pid={pid}]\n{capture.output.shown(_SHOWN)}"
        jobs.drop(arguments.job_id)
        capture.finish()
        return job.code == 0, f"[job {arguments.job_id} finished, exit_code={job.code}]\n{capture.output.shown(_SHOWN)}"

    def kill_shell_bg(arguments: Job) -> tuple[bool, str]:
        _find(jobs.drop(arguments.job_id), arguments).kill()
        return True, f"Background job {arguments.job_id} killed."

    registry.register(
        spec(
            "run_shell_bg", "Start a shell command in the workspace and go on.", RunShellBg, RUNS,
            roles={"command": ROLES.COMMAND},
        ),
        handler(RunShellBg, run_shell_bg, require("run_shell_bg", "command"), check_terminal, refuse_patch),
    )  # fmt: skip
    # They touch the jobs alone: they need not wait for other tools to end, which may be waiting for a job.
    apart = ToolLimits(resource=None)
    registry.register(
        spec("check_shell_bg", "Show the output of a background job, and whether it still runs.", Job, _CHECKS),
        handler(Job, check_shell_bg, require("check_shell_bg", "job_id")),
        limits=apart,
    )
    registry.register(
        spec("kill_shell_bg", "Kill a background job.", Job, _KILLS),
        handler(Job, kill_shell_bg, require("kill_shell_bg", "job_id")),
        limits=apart,
    )


def _find(job: ProcessGroup | None, arguments: Job) -> ProcessGroup:
    if job is None:
        raise ToolError(f"No background job with id {arguments.job_id}")
    return job
