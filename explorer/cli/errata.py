"""The command `errata`: explains labels such as shuf-A4."""

import textwrap

import click


def _labels(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    from explorer.studies.errata import errata

    return [label for label in errata() if label.startswith(begun)]


@click.command("errata")
@click.argument("labels", metavar="[LABEL]…", nargs=-1, shell_complete=_labels)
def errata_command(labels: tuple[str, ...]) -> None:
    """Show an erratum: printed text, correction and reason; without a LABEL, list all."""
    from explorer.studies.errata import errata

    known = errata()
    unknown = [label for label in labels if label not in known]
    if unknown:
        raise ValueError(
            f"there is no erratum {', '.join(unknown)}; 'privacy-explorer errata' lists them"
        )
    if not labels:
        click.echo("\n".join(f"{e.label:9} {e.title}" for e in known.values()))
    for place, label in enumerate(labels):
        item = known[label]
        lines = ["" for _ in range(min(place, 1))] + [f"{item.label} · {item.title}"]
        for name, sections in (("Printed", item.printed), ("Right", item.right), ("Why", item.why)):
            lines += textwrap.wrap(
                f"{name}: {sections}", 88, initial_indent="  ", subsequent_indent="    "
            )
        click.echo("\n".join(lines))
