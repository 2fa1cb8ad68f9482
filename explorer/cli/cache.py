"""The commands `cache show` and `cache clear`."""

import click


@click.group("cache")
def cache_command() -> None:
    """Show or clear the cache of check-in files and experiments."""


@cache_command.command("show")
def show_command() -> None:
    """Print the size and location of the cache."""
    from explorer.checkins import cache_use
    from explorer.checkins.memory import format_bytes
    from explorer.engine.experiments import trials_folder
    from explorer.engine.paths import checkins_cache

    folder = checkins_cache()
    use = cache_use(folder)
    click.echo(
        f"{format_bytes(use.size)} of {use.files:,} file{'s' * (use.files != 1)} in {folder}"
    )
    trial_bytes = sum(path.stat().st_size for path in trials_folder().iterdir())
    if trial_bytes:
        click.echo(f"{format_bytes(trial_bytes)} of experiments in {trials_folder()}")


@cache_command.command("clear")
def clear_command() -> None:
    """Clear the cache, except entries in use; the check-in files themselves are not touched."""
    from explorer.checkins import cache_size, clear_cache
    from explorer.checkins.memory import format_bytes
    from explorer.engine.experiments import clear_trials
    from explorer.engine.paths import checkins_cache

    folder = checkins_cache()
    freed, left = clear_cache(folder) + clear_trials(), cache_size(folder)
    stays = f"; {format_bytes(left)} in use stay" if left else ""
    click.echo(f"{format_bytes(freed)} freed{stays}")
