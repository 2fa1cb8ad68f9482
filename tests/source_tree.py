"""Modules of a folder of sources, parsed once: their imports, statements and tokens."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[1]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NOT_COUNTED = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
)


@dataclass(frozen=True)
class Import:
    """A name that a statement imports.

    Attributes
    ----------
    module : str
        The module of ``from module import name``, or the one imported.
    name : str
        Empty for ``import module``.
    line : int
    in_function : bool
        Whether the statement runs only when a function is called.
    """

    module: str
    name: str
    line: int
    in_function: bool


@dataclass(frozen=True)
class Source:
    """A parsed module."""

    path: Path
    text: str
    imports: tuple[Import, ...]
    statements: int
    import_statements: int
    docstrings: frozenset[tuple[int, int]]

    @cached_property
    def tokens(self) -> int:
        """Number of tokens without comments, line ends, indents and docstrings."""
        return sum(
            token.type not in _NOT_COUNTED
            and not (token.type == tokenize.STRING and token.start in self.docstrings)
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline)
        )


def parse(path: Path) -> Source:
    """Parse a module, in a single pass over its nodes."""
    text = path.read_text(encoding="utf-8")
    imports: list[Import] = []
    docstrings: set[tuple[int, int]] = set()
    statements = import_statements = 0
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(text), False)]
    while waiting:
        node, in_function = waiting.pop()
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            docstrings.add((first.lineno, first.col_offset))
        if isinstance(node, ast.stmt):
            statements += 1
        if isinstance(node, ast.Import):
            import_statements += 1
            imports += [Import(a.name, "", node.lineno, in_function) for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            import_statements += 1
            module = "." * node.level + (node.module or "")
            imports += [Import(module, a.name, node.lineno, in_function) for a in node.names]
        else:
            inside = in_function or isinstance(node, _FUNCTIONS)
            # Expressions hold no imports and, lambdas aside, no statements.
            waiting += [
                (child, inside)
                for child in ast.iter_child_nodes(node)
                if not isinstance(child, ast.expr)
            ]
    return Source(path, text, tuple(imports), statements, import_statements, frozenset(docstrings))


@cache
def sources(folder: Path = ROOT / "explorer") -> dict[str, Source]:
    """Return the modules below a package's folder by their dotted names."""
    return {
        ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(
            ".__init__"
        ): parse(path)
        for path in sorted(folder.rglob("*.py"))
    }


def import_graph(modules: dict[str, Source], *, functions: bool) -> dict[str, set[str]]:
    """Return, for each module, those of the others that it imports.

    Imports for type checkers count; those inside functions only if `functions`.
    """
    graph = {}
    for name, source in modules.items():
        found = {
            inner if (inner := f"{i.module}.{i.name}") in modules else i.module
            for i in source.imports
            if functions or not i.in_function
        }
        graph[name] = (found & modules.keys()) - {name}
    return graph


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules that import one another, directly or not."""
    names = list(graph)
    at = {name: i for i, name in enumerate(names)}
    edges = [(at[name], at[other]) for name, others in graph.items() for other in others]
    rows, columns = zip(*edges, strict=True) if edges else ((), ())
    shape = (len(names), len(names))
    matrix = csr_array((np.ones(len(edges)), (rows, columns)), shape)
    _, labels = connected_components(matrix, directed=True, connection="strong")
    groups = [{names[i] for i in np.flatnonzero(labels == k)} for k in np.unique(labels)]
    return [group for group in groups if len(group) > 1]
