"""Measures of size of the program and its tests, and their budgets.

``python -m tests.size`` prints them, and fails if one is over its budget. A budget is the most that
may be; raising one needs a line in CHANGELOG that says why.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from tests.source_tree import ROOT, Source, cycles, import_graph, sources

BUDGET = {
    "checkins": (43, 90_400),
    "cli": (18, 32_200),
    "engine": (34, 50_600),
    "figures": (27, 48_500),
    "geography": (10, 21_100),
    "privacy": (101, 209_000),
    "release": (49, 69_000),
    "studies": (144, 266_800),
    "top": (11, 10_200),
    "ui": (123, 304_500),
}
"""Of each package: most modules and most tokens without docstrings."""
MAX_IMPORT_SHARE = 0.09
"""Of the program's statements, those that import, inside functions as well."""
MAX_FORMATTER_EXEMPTIONS = 0
MAX_CYCLES = 0
"""Groups of modules that import one another, counting imports inside functions."""
MAX_OWN_IMPORTS_IN_FUNCTIONS = 31
"""Outside `cli`, whose commands import what they need; each has a comment with its reason."""
MAX_PROSE_SHARE = 0.03
"""Of test functions, those that compare with a literal of `PROSE_WORDS` or more words."""
PROSE_WORDS = 4
_WORD = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True)
class Size:
    """Size of some modules."""

    modules: int
    statements: int
    import_statements: int
    tokens: int

    @property
    def import_share(self) -> float:
        """Share of statements that import."""
        return self.import_statements / max(self.statements, 1)


def size_of(modules: list[Source]) -> Size:
    """Return the size of some modules."""
    return Size(
        modules=len(modules),
        statements=sum(m.statements for m in modules),
        import_statements=sum(m.import_statements for m in modules),
        tokens=sum(m.tokens for m in modules),
    )


def package_sizes() -> dict[str, Size]:
    """Return the size of each package of the program; modules on the top level are ``top``."""
    folder = ROOT / "explorer"

    def package(source: Source) -> str:
        parts = source.path.relative_to(folder).parts
        return parts[0] if len(parts) > 1 else "top"

    ordered = sorted(sources().values(), key=package)
    return {name: size_of(list(group)) for name, group in groupby(ordered, package)}


def total_size() -> Size:
    """Return the size of the program."""
    return size_of(list(sources().values()))


def formatter_exemptions() -> int:
    """Return the number of lines that the formatter is told to skip."""
    return sum(m.text.count("fmt: skip") for m in sources().values())


def import_cycles() -> list[set[str]]:
    """Return groups of modules that import one another, counting imports inside functions."""
    return cycles(import_graph(sources(), functions=True))


def own_imports_in_functions() -> int:
    """Return the number of imports of own modules inside functions, outside the command line."""
    found = {
        (name, i.line)
        for name, source in sources().items()
        if not name.startswith("explorer.cli")
        for i in source.imports
        if i.in_function and i.module.split(".")[0] in ("", "explorer")
    }
    return len(found)


def asserts_prose(test: ast.AST) -> bool:
    """Return whether a test compares with, or matches, a literal of several words."""
    compared = (
        node if isinstance(node, ast.Compare) else node.value
        for node in ast.walk(test)
        if isinstance(node, ast.Compare) or (isinstance(node, ast.keyword) and node.arg == "match")
    )
    return any(
        isinstance(literal, ast.Constant)
        and isinstance(literal.value, str)
        and len(_WORD.findall(literal.value)) >= PROSE_WORDS
        for expression in compared
        for literal in ast.walk(expression)
    )


def all_tests() -> Iterator[ast.FunctionDef]:
    """Yield every test function of the suite."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                yield node


def prose_share() -> float:
    """Return the share of test functions that assert prose."""
    prose = [asserts_prose(test) for test in all_tests()]
    return sum(prose) / len(prose)


def main() -> int:
    """Print the measures, a package a line, and which are over their budget; 1 if any is."""
    packages, whole = package_sizes(), total_size()
    print(f"{'package':12} {'modules':>7} {'tokens':>8} {'imports':>8}")
    for name, size in {**packages, "all": whole}.items():
        print(f"{name:12} {size.modules:7} {size.tokens:8} {size.import_share:8.2%}")
    measures = {
        **{
            f"modules of {name}": (size.modules, BUDGET[name][0]) for name, size in packages.items()
        },
        **{f"tokens of {name}": (size.tokens, BUDGET[name][1]) for name, size in packages.items()},
        "share of imports": (whole.import_share, MAX_IMPORT_SHARE),
        "formatter exemptions": (formatter_exemptions(), MAX_FORMATTER_EXEMPTIONS),
        "import cycles": (len(import_cycles()), MAX_CYCLES),
        "own imports in functions": (own_imports_in_functions(), MAX_OWN_IMPORTS_IN_FUNCTIONS),
        "share of tests that assert prose": (prose_share(), MAX_PROSE_SHARE),
    }
    for name, (found, most) in list(measures.items())[2 * len(packages) :]:
        print(f"{name} {found:.3g} (at most {most:.3g})")
    over = exceeded(measures)
    for one in over:
        print(f"over its budget: {one}")
    return 1 if over or packages.keys() != BUDGET.keys() else 0


def exceeded(measures: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return which measures, with the most that each may be, are larger."""
    return [f"{n}, {found:g} > {most:g}" for n, (found, most) in measures.items() if found > most]


if __name__ == "__main__":
    sys.exit(main())
