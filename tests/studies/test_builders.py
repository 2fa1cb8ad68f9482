"""Parameters of the usual kinds: what a builder adds, and that studies use it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import explorer.studies
from explorer.studies.base import builders
from explorer.studies.base.study import Kind, Parameter, Scale

DELTA = Parameter(
    "delta",
    "δ",
    "failure probability",
    "With what probability the guarantee may fail. Smaller is more private.",
    Kind.REAL,
    1e-6,
    1e-30,
    0.1,
    Scale.LOG,
    more_private="low",
    latex=r"\delta",
)
ORDERS = Parameter(
    "lam_max",
    "λₘₐₓ",
    "maximum Rényi order",
    "Help.",
    Kind.INTEGER,
    512,
    2,
    2048,
    Scale.LOG,
    latex=r"\lambda_{\max}",
)


@pytest.mark.parametrize(
    ("built", "declared"),
    [
        (builders.delta(1e-6), DELTA),
        (
            builders.epsilon("privacy", "Help.", 1.0, 0.1, 5.0, key="eps0", symbol="ε₀", unit="u"),
            Parameter(
                "eps0",
                "ε₀",
                "privacy",
                "Help.",
                Kind.REAL,
                1.0,
                0.1,
                5.0,
                Scale.LOG,
                unit="u",
                more_private="low",
                latex=r"\varepsilon_0",
            ),
        ),
        (builders.orders("Help."), ORDERS),
        (
            builders.trials("Help.", 20, 500, group="data"),
            Parameter(
                "trials", "", "trials", "Help.", Kind.INTEGER, 20, 2, 500, Scale.LOG, group="data"
            ),
        ),
        (
            builders.simulate("Help.", quantities=("error",)),
            Parameter(
                "simulate",
                "",
                "simulate",
                "Help.",
                Kind.FLAG,
                False,
                group="simulation",
                quantities=("error",),
            ),
        ),
        (
            builders.file("points", "file of points", "Help."),
            Parameter("points", "", "file of points", "Help.", Kind.FILE, "", suffixes=(".csv",)),
        ),
        (
            builders.share("q", "q", "coupling", "Help.", 0.1, 0.01),
            Parameter("q", "q", "coupling", "Help.", Kind.REAL, 0.1, 0.01, 1.0),
        ),
    ],
    ids=lambda p: p.key,
)
def test_a_builder_adds_what_all_of_its_kind_have(built, declared):
    assert built == declared


def test_what_is_given_overrides_what_the_kind_has():
    own = builders.delta(1e-12, 1e-40, symbol="δ′", help="Own.", more_private="", latex="d")
    assert (own.low, own.symbol, own.help, own.more_private, own.latex) == (
        1e-40,
        "δ′",
        "Own.",
        "",
        "d",
    )
    with pytest.raises(TypeError, match="colour"):
        builders.delta(1e-6, colour="red")


def test_studies_declare_numbers_and_choices_with_builders():
    studies = Path(explorer.studies.__file__).parent
    for path in studies.glob("*/parameters.py"):
        if path.parent.name != "base":
            text = path.read_text(encoding="utf-8")
            assert not re.findall(r"Kind\.(REAL|INTEGER|CHOICE)", text), path
