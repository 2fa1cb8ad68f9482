"""Study of users' data: Algorithms 1 to 3 run on files, and distances between data sets."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from explorer.privacy.core.bound import Role
from explorer.studies.base.builders import (
    choice,
    count,
    decimal_sign,
    delta,
    epsilon,
    file,
    real,
    share,
    table,
)
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.numbers import nearest
from explorer.studies.base.phrases import error_phrase
from explorer.studies.base.plots import Plot
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Headline,
    Kind,
    Parameter,
    Quantity,
    Request,
    Result,
    Scale,
    Statistic,
    Study,
    Table,
)
from explorer.studies.base.sweeping import SweptPoints, swept_points
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.metric_space.parameters import (
    CLUSTERED,
    DISCRETE,
    GRID,
    MATRIX,
    POINTS,
    SPHERE,
    SQUARE_L1,
    SQUARE_L2,
    TYPED,
    space_parameters,
)
from explorer.studies.users_data import algorithms, comparison, guarantee
from explorer.studies.users_data.algorithms import QuantityResult, audits, undefined_result
from explorer.studies.users_data.help import PAGE, PRESETS
from explorer.studies.users_data.inputs import (
    CENTRAL,
    DRAWN,
    EQUAL,
    FILE,
    FILES,
    FLAT,
    ITEM_WISE,
    LINEAR,
    LOCAL,
    MAX_ITEMS,
    ONE_HOT,
    PLACES,
    POSITION,
    SPLIT,
    Inputs,
    data_table,
)

_KINDS = (GRID, CLUSTERED, DISCRETE, MATRIX, TYPED, POINTS, SPHERE, SQUARE_L2, SQUARE_L1)
_MAX_BARS = 100
_OF_RELEASES = ("shares", "map", "mean")
_OF_COMPARISONS = ("moved", "found_out")
_DRAWN = (("sizes", (DRAWN,)),)
_LIMITS = {
    "space_cells": (4, 20),
    "space_items": (20, MAX_ITEMS),
    "space_clusters": (5, 20),
    "space_each": (4, 20),
}


def _small(p: Parameter) -> Parameter:
    """Return a parameter of the space limited to few items."""
    if p.key not in _LIMITS:
        return p
    default, high = _LIMITS[p.key]
    return replace(p, default=default, high=high)


PARAMETERS = (
    choice(
        "model",
        "",
        "model",
        "Central: a curator holds all users' data and releases once. Local: every user "
        "randomises for themselves; more private, and less accurate.",
        CENTRAL,
        ((CENTRAL, "central: one release"), (LOCAL, "local: every user for themselves")),
        quantities=(*_OF_RELEASES, "found_out"),
    ),
    choice(
        "sizes",
        "",
        "numbers of items",
        "Algorithms 1 and 2 need the same public number of items of every user. Algorithm 3 "
        "first draws s items of each, with replacement, and hides how many there were.",
        EQUAL,
        ((EQUAL, "every user has as many"), (DRAWN, "any: draw s of each (Algorithm 3)")),
        quantities=_OF_RELEASES,
    ),
    epsilon(
        "privacy of a user",
        "The privacy of a user's whole data, per largest distance: a change by earth mover's "
        "distance w is protected at ε = αw. Smaller is more private.",
        60.0,
        1e-2,
        800.0,
        key="alpha",
        symbol="α",
        unit="1/diameter",
        relevant_when=(("sizes", (EQUAL,)),),
    ),
    epsilon(
        "privacy within r",
        "After drawing: two data sets of a user at most r apart are told apart by no more than "
        "this. Smaller is more private.",
        1.0,
        1e-2,
        20.0,
        relevant_when=_DRAWN,
        quantities=_OF_RELEASES,
    ),
    delta(
        1e-6,
        1e-40,
        help="What shuffling and drawing may fail by; Algorithm 1 alone never fails. Smaller is "
        "more private.",
    ),
    real(
        "r",
        "r",
        "distance protected",
        "Earth mover's distance of two data sets of a user that are protected from each other, "
        "as a share of the largest distance.",
        0.1,
        1e-4,
        1.0,
        relevant_when=_DRAWN,
        quantities=_OF_RELEASES,
    ),
    count(
        "s",
        "s",
        "draws from every user",
        "How many items are drawn of every user, with replacement.",
        200,
        1,
        10_000,
        relevant_when=_DRAWN,
        quantities=_OF_RELEASES,
    ),
    choice(
        "query",
        "",
        "averaged",
        "Which function of an item Algorithm 1 averages.",
        ONE_HOT,
        (
            (ONE_HOT, "which item it is: shares of the items"),
            (POSITION, "its position in the plane"),
            (PLACES, "its distance to places"),
            (FILE, "your own (CSV: one row of values an item)"),
        ),
        quantities=("mean",),
    ),
    table(
        "places",
        "places",
        "The public places that the distance is averaged to, a row each: on the Earth latitude and "
        "longitude in degrees, else x and y in the unit of the file.",
        "10 10",
        relevant_when=(("query", (PLACES,)),),
        quantities=("mean",),
    ),
    file(
        "values",
        "file of values",
        "A CSV file with one row an item of the space and one column a number of the answer; it "
        "must be public.",
        relevant_when=(("query", (FILE,)),),
        quantities=("mean",),
    ),
    decimal_sign("values_decimal", relevant_when=(("query", (FILE,)),), quantities=("mean",)),
    real(
        "step",
        "γ",
        "rounding of the values",
        "Values are rounded to multiples of this before they are averaged, so that the noise can "
        "be drawn exactly.",
        1e-3,
        1e-6,
        1.0,
        group="mechanism",
        latex=r"\gamma",
        quantities=("mean",),
    ),
    choice(
        "against",
        "",
        "compare with",
        "Which second data set the first one is held against.",
        FILES,
        ((FILES, "a second file, user by user"), (SPLIT, "users of the same file")),
        quantities=_OF_COMPARISONS,
    ),
    count(
        "split",
        "k",
        "users of the first part",
        "The first k users of the file, in its order, are held against all others.",
        1,
        1,
        100_000,
        relevant_when=(("against", (SPLIT,)),),
        quantities=_OF_COMPARISONS,
    ),
    choice(
        "promise",
        "",
        "released by",
        "Algorithm 1 promises α without any δ; Algorithm 2 promises α and δ.",
        LINEAR,
        ((LINEAR, "Algorithm 1 (δ = 0)"), (ITEM_WISE, "Algorithm 2 (α and δ)")),
        quantities=("found_out",),
    ),
    file(
        "users",
        "file of users' data",
        "A CSV file with one item a line: user,item (items of the space, by name or number), "
        "user,x,y on a grid or square, or user,latitude,longitude on the Earth. Without a file "
        "synthetic users are used.",
        (".csv", ".tsv", ".txt"),
        group="data",
    ),
    file(
        "checkins",
        "check-in file",
        "Check-ins on the Earth, in any format that the map reads; used in place of the file of "
        "users' data. Users have different numbers of them: choose to draw s of each.",
        (".csv", ".tsv", ".txt", ".gz", ".zip", ".parquet", ".geojson", ".json", ".gpkg", ".xlsx"),
        group="data",
        relevant_when=(("space", (SPHERE,)),),
    ),
    file(
        "second",
        "second file",
        "The same users' other data, as user,item or user,x,y. Without a file synthetic users "
        "are changed a little.",
        (".csv", ".tsv", ".txt"),
        group="data",
        relevant_when=(("against", (FILES,)),),
        quantities=_OF_COMPARISONS,
    ),
    decimal_sign(group="data"),
    *(
        real(
            key,
            symbol,
            f"{name} edge of the box",
            "Where the declared box begins, in the unit of the file. It must be chosen before "
            "the file is looked at.",
            0.0,
            -1e6,
            1e6,
            Scale.LINEAR,
            group="data",
            relevant_when=(("space", FLAT),),
        )
        for key, symbol, name in (("left", "x₀", "left"), ("bottom", "y₀", "lower"))
    ),
    Parameter(
        "clamp",
        "",
        "move outsiders to the edge",
        "Points outside the box are rejected; if this was declared beforehand they are "
        "moved to its edge instead.",
        Kind.FLAG,
        False,
        group="data",
        relevant_when=(("space", FLAT),),
    ),
    *(_small(p) for p in space_parameters(_KINDS, GRID)),
    count(
        "item",
        "x",
        "item",
        "The space's items by number, from 0.",
        0,
        0,
        _MAX_BARS - 1,
        Scale.LINEAR,
        axis_only=True,
        quantities=("shares",),
    ),
    count(
        "place",
        "i",
        "number of the answer",
        "Numbers of Algorithm 1's answer, from 1.",
        1,
        1,
        _MAX_BARS,
        Scale.LINEAR,
        axis_only=True,
        quantities=("mean",),
    ),
    count(
        "rank",
        "",
        "users by how far they moved",
        "1 is the user whose data moved farthest.",
        1,
        1,
        1000,
        axis_only=True,
        quantities=("moved",),
    ),
    share(
        "across",
        "x",
        "to the right",
        "Where an item lies, in shares of the declared box.",
        0.0,
        axis_only=True,
        quantities=("map",),
    ),
    share(
        "false_alarm",
        "f",
        "wrong accusations",
        "How often somebody who tests which data set was used says the second when it was the "
        "first.",
        0.0,
        axis_only=True,
        quantities=("found_out",),
    ),
)

_MAX_DISTANCE = math.sqrt(2)
"""Largest ℓ2 distance of two histograms: all mass on one item, or all on another."""


def _shares_headline(result: Result, _found: ClaimedBound | None) -> Headline | None:
    rmse = result.number("rmse")
    moved = next((r for r in result.readouts if r.key == "moved"), None)
    if rmse is None:
        return None
    text = f"The estimated shares: {error_phrase(rmse, Statistic.RMS, role=Role.ESTIMATE)} in all"
    if rmse > _MAX_DISTANCE:
        text = (
            "Not informative: the expected error exceeds the largest possible one "
            f"({nearest(_MAX_DISTANCE)})"
        )
    if moved is not None and moved.value is not None:
        far = f"{nearest(moved.value)} {moved.unit}".rstrip()
        text += f". A reported item lies {far} from the true one on average"
    shown = None if rmse > _MAX_DISTANCE else Statistic.RMS
    return Headline(f"‖F − K̃‖₂ ≈ {nearest(rmse)}", f"{text}.", statistic=shown)


_SLIDERS = ("alpha", "users", "sizes", "space")
PLOTS = (
    Plot(
        Quantity("shares", "K̃", "shares of items (Algorithm 2)", ("item",), latex=r"\tilde K"),
        (
            algorithms.TRUE_SHARES,
            algorithms.ANSWERS,
            algorithms.UNBIASED,
            algorithms.PROJECTED,
        ),
        _SLIDERS,
        headline=_shares_headline,
    ),
    Plot(
        Quantity("map", "y", "items before and after (Algorithm 2)", ("across",)),
        (algorithms.BEFORE, algorithms.AFTER),
        _SLIDERS,
    ),
    Plot(
        Quantity("mean", "q", "average over items (Algorithm 1)", ("place",)),
        (algorithms.TRUE_AVERAGE, algorithms.RELEASED),
        ("alpha", "users", "query", "space"),
    ),
    Plot(
        Quantity("moved", "EMD", "how far users' data moved", ("rank",), latex=r"d_{EM}"),
        (comparison.MOVED,),
        ("users", "against", "second", "space"),
    ),
    Plot(
        Quantity("found_out", "P", "chance to tell two data sets apart", ("false_alarm",)),
        (
            comparison.FARTHEST,
            comparison.ALL_ADDED,
            comparison.ALL_POOLED,
            comparison.CHANCE,
        ),
        ("alpha", "users", "against", "second"),
    ),
)


_QUANTITY_RESULTS: dict[str, Callable[[Inputs, SweptPoints], QuantityResult]] = {
    "shares": algorithms.item_shares,
    "map": algorithms.items_and_answers,
    "mean": algorithms.average,
    "moved": comparison.moved_distances,
    "found_out": comparison.test_power,
}


@with_tradeoff(also=("promise",), audits=audits)
class UsersData(Study):
    """Releases of users' items, simulated with exact laws, and distances between data sets."""

    id = "users-data"
    simulated = "metric.sum/1"
    references = guarantee.REFERENCES
    parameters = PARAMETERS
    plots = PLOTS
    page = PAGE
    presets = PRESETS

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the answer with its tables, then the slower distance of the histograms."""
        points = swept_points(self, request)
        inputs = Inputs(request, context)
        context.check()
        notes = (
            *inputs.space.notes,
            inputs.users.rejection_note(),
            "" if inputs.real else guarantee.NO_FILE,
        )
        tables: tuple[Table, ...] = ()
        conditions: tuple[Condition, ...] = ()
        if inputs.missing:
            part = undefined_result("nothing", "nothing to show", points, inputs.missing)
            notes = inputs.space.notes
        else:
            part = _QUANTITY_RESULTS[request.quantity](inputs, points)
            context.check()
            tables = (data_table(inputs.users),)
            if request.quantity in _OF_COMPARISONS:
                tables += comparison.tables(inputs)
                conditions = comparison.conditions(inputs)
            else:
                conditions = guarantee.conditions(drawn=request["sizes"] == DRAWN, real=inputs.real)
        complete = part.histograms is None or request.fidelity is Fidelity.COARSE
        result = Result(
            request,
            request.fidelity,
            series=part.series,
            tables=tables,
            space=inputs.space.picture,
            readouts=part.readouts,
            conditions=conditions,
            guarantee=part.guarantee,
            notes=tuple(note for note in (*notes, *part.notes) if note),
            stamp=inputs.stamp,
            complete=complete,
        )
        yield result
        if part.histograms is not None and not complete:
            away = algorithms.projected_distance(inputs, part.histograms)
            yield replace(result, readouts=(*result.readouts, away), complete=True)
