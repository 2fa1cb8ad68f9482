"""What an installation is checked against, run where studies are answered."""

from collections.abc import Callable
from dataclasses import dataclass

from explorer.engine.runtime.runtime import StudyRuntime, final_result
from explorer.studies.guarantees.checks import Check, checks, count


@dataclass(frozen=True, slots=True)
class Checking:
    """What is wanted: `runs` of every audit (0 for none), by noise of this `seed`."""

    runs: int = 4000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known so far, and out of how many checks."""

    found: tuple[Check, ...]
    total: int


def checked(
    runtime: StudyRuntime,
    wanted: Checking,
    check: Callable[[], None],
    report: Callable[[Checked], object] = lambda _: None,
) -> Checked:
    """Return what every check gave, reporting after each; raises what `check` raises."""
    found: list[Check] = []
    total = count(wanted.runs)
    ask = lambda request: final_result(runtime, request, check)  # noqa: E731
    for item in checks(ask, wanted.runs, wanted.seed):
        check()
        found.append(item)
        report(Checked(tuple(found), total))
    return Checked(tuple(found), total)
