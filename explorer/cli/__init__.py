"""Command line interface.

The options of a study's command are generated from its declared parameters. Results are written to
standard output or to files, progress and errors to standard error; the exit code is 0 on success.
"""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pkgutil import resolve_name

import click

from explorer import __version__, shutdown
from explorer.cli.opening import OpenQuestions
from explorer.studies.registry import add_installed

COMMANDS = {
    "studies": "explorer.cli.studies:studies_command",
    "bounds": "explorer.cli.bounds:bounds_command",
    "sweep": "explorer.cli.sweep:sweep_command",
    "heatmap": "explorer.cli.heatmap:heatmap_command",
    "experiment": "explorer.cli.experiment:experiment_command",
    "users": "explorer.cli.users:users_command",
    "window": "explorer.cli.window:window_command",
    "release": "explorer.cli.release:release_command",
    "ledger": "explorer.cli.ledger:ledger_command",
    "verify": "explorer.cli.verify:verify_command",
    "fetch": "explorer.cli.stored_files:fetch_command",
    "cache": "explorer.cli.stored_files:cache_command",
    "cluster": "explorer.cli.cluster:cluster_command",
    "errata": "explorer.cli.checks:errata_command",
    "check": "explorer.cli.checks:check_command",
}


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 success, 1 failure, 2 usage error."""
    for problem in add_installed():
        print(f"privacy-explorer: {problem}", file=sys.stderr)
    try:
        outcome = cli.main(list(arguments), prog_name="privacy-explorer", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        with suppress(OSError):
            print("\nprivacy-explorer: stopped", file=sys.stderr)
        return shutdown.exit_code(130)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except OpenQuestions as error:
        for line in error.lines:
            print(f"privacy-explorer: {line}", file=sys.stderr)
        return error.exit_code
    except click.ClickException as error:
        print(f"privacy-explorer: {usage_message(error)}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return shutdown.output_closed()  # the reader has closed the pipe
    except (ValueError, LookupError, OSError, RuntimeError) as error:
        print(f"privacy-explorer: {error_message(error)}", file=sys.stderr)
        return 1
    return outcome if isinstance(outcome, int) else 0


def usage_message(error: click.ClickException) -> str:
    """Return a usage error as one sentence that points to the command's help."""
    text = " ".join(error.format_message().split()).rstrip(".")
    text = text.removeprefix("Invalid value: ").removeprefix("Invalid value for ")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{text}; see '{context.command_path} --help'" if context else text


def error_message(error: Exception) -> str:
    """Return the message of an error as one sentence."""
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror.lower()}"
    if isinstance(error, KeyError):
        return str(error.args[0]) if error.args else "a key is missing"
    return " ".join(str(error).split()) or type(error).__name__


class Commands(click.Group):
    """The group of all commands, each imported when it is used.

    The window needs none of them, and most have imports that would delay its start.
    """

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """Return a command by its name."""
        result: click.Command | None = resolve_name(COMMANDS[name]) if name in COMMANDS else None
        return result


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="privacy-explorer")
@click.pass_context
def cli(context: click.Context) -> int:
    """See privacy trade-offs before you commit to them.

    Without a command the window opens with the bundled synthetic sample.
    """
    if context.invoked_subcommand is None:
        from explorer.ui.app.launch import run_window
        from explorer.ui.app.options import WindowOptions

        return run_window(WindowOptions())
    return 0
