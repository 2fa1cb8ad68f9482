"""The same questions without a window.

Options of a study's command are made from the study's declared parameters, so that a parameter
is described once. Numbers go to standard output or into files, progress and errors to standard
error; the exit code is 0 only on success.
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
    "fetch": "explorer.cli.fetch:fetch_command",
    "cache": "explorer.cli.cache:cache_command",
    "cluster": "explorer.cli.cluster:cluster_command",
    "errata": "explorer.cli.errata:errata_command",
    "check": "explorer.cli.check:check_command",
}


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 wrongly asked."""
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
        print(f"privacy-explorer: {wrong_call(error)}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return shutdown.output_closed()  # whoever read it has gone; nobody is left to be told
    except (ValueError, LookupError, OSError, RuntimeError) as error:
        print(f"privacy-explorer: {sentence(error)}", file=sys.stderr)
        return 1
    return outcome if isinstance(outcome, int) else 0


def wrong_call(error: click.ClickException) -> str:
    """Return what is wrong with how a command was called, and where its options are told."""
    said = " ".join(error.format_message().split()).rstrip(".")
    said = said.removeprefix("Invalid value: ").removeprefix("Invalid value for ")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{said}; '{context.command_path} --help' tells more" if context else said


def sentence(error: Exception) -> str:
    """Return what an error says as one sentence."""
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror.lower()}"
    if isinstance(error, KeyError):
        return str(error.args[0]) if error.args else "a key is missing"
    return " ".join(str(error).split()) or type(error).__name__


class Commands(click.Group):
    """Has every command by its name, imported when it is first asked for.

    The window opens without any, and most of them need what it does not need at first.
    """

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """Return a command by its name."""
        found: click.Command | None = resolve_name(COMMANDS[name]) if name in COMMANDS else None
        return found


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
