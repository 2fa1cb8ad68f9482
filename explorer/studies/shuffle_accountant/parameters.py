"""What can be set and plotted in the shuffle accountant."""

from __future__ import annotations

from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.study import Kind, Parameter, Quantity, Scale

PARAMETERS = (
    Parameter(
        "eps0", "ε₀", "local privacy",
        "Privacy of every single message before it is shuffled. Smaller is more private.",
        Kind.REAL, 2.0, 0.01, 10.0, Scale.LOG, more_private="low", latex=r"\varepsilon_0",
    ),
    Parameter(
        "n", "n", "clients", "How many clients there are. More is more private.",
        Kind.INTEGER, 1_000_000, 1, 1_000_000_000, Scale.LOG, unit="clients",
        more_private="high",
    ),
    Parameter(
        "k", "k", "clients sampled",
        "How many clients are sampled in a round and shuffled together. Fewer hide better in the "
        "sample, more hide better in the shuffle.",
        Kind.INTEGER, 1_000, 1, 1_000_000_000, Scale.LOG, unit="clients",
    ),
    Parameter(
        "T", "T", "rounds", "How many rounds are run. Fewer is more private.",
        Kind.INTEGER, 100_000, 1, 100_000_000, Scale.LOG, unit="rounds", more_private="low",
        quantities=("eps",),
    ),
    Parameter(
        "delta", "δ", "failure probability",
        "With what probability the guarantee may fail. Smaller is more private.",
        Kind.REAL, 1e-8, 1e-30, 0.1, Scale.LOG, more_private="low", latex=r"\delta",
        quantities=("eps",),
    ),
    Parameter(
        "lam", "λ", "Rényi order", "Order of the Rényi divergence.",
        Kind.INTEGER, 8, 2, 2048, Scale.LOG, latex=r"\lambda", quantities=("rdp",),
    ),
    Parameter(
        "lam_max", "λₘₐₓ", "largest order searched",
        "The conversion to ε takes the best order from 2 to here. Any choice is sound; a small "
        "one can be loose.",
        Kind.INTEGER, 512, 2, 2048, Scale.LOG, latex=r"\lambda_{\max}", quantities=("eps",),
    ),
    Parameter(
        "clones", "", "clones analysis",
        "Which analysis of the clones the numerical curves use. Where clients are sampled both "
        "need one common, non-adaptive randomiser a round.",
        Kind.CHOICE, Clones.PUBLISHED.value,
        choices=(
            (Clones.PUBLISHED.value, "2021, as published"),
            (Clones.STRONGER.value, "2023, sharper"),
        ),
        quantities=("eps",),
    ),
    Parameter(
        "gamma", "γ", "sampling rate",
        "k/n. As an axis: k = round(γn) clients are sampled.",
        Kind.REAL, 1e-3, 1e-9, 1.0, Scale.LOG, latex=r"\gamma", axis_only=True,
        replaces=("k",),
    ),
)  # fmt: skip

QUANTITIES = (
    Quantity(
        "eps", "ε", "privacy after T rounds", ("T", "k", "n", "eps0", "delta", "gamma"),
        scale=Scale.LOG, latex=r"\varepsilon",
    ),
    Quantity(
        "rdp", "ε(λ)", "Rényi DP of one round", ("lam", "eps0", "k", "n", "gamma"),
        scale=Scale.LOG, latex=r"\varepsilon(\lambda)",
    ),
)  # fmt: skip
