"""Study of differentially private heatmaps of check-ins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from explorer.privacy.heatmaps.budget_schedule import measured_levels
from explorer.privacy.heatmaps.quadtree import level_of
from explorer.studies.base.numbers import APPROXIMATELY, PARAMETER_DIGITS, format_interval, nearest
from explorer.studies.base.phrases import Headline
from explorer.studies.base.plots import Plot
from explorer.studies.base.study import Advice, Context, Quantity, Request, Result, Study, Value
from explorer.studies.heatmap.help import PAGE, PRESETS
from explorer.studies.heatmap.mechanisms import MECHANISMS, REFERENCES, mechanism_of, recommend
from explorer.studies.heatmap.parameters import PARAMETERS
from explorer.studies.heatmap.public import public_result
from explorer.studies.heatmap.text import AVERAGE_ERROR, SYNTHETIC, in_unit

DIGITS, OF_INTERVAL = 3, 2
ONE_DRAW = "Based on the real data. For planning only; do not publish."
NOBODY = "No check-ins in this region and time range. Choose larger ones."
OF_SAMPLE = "Computed from the synthetic sample."


def of_draw(result: Result, _claimed: object = None) -> Headline | None:
    """Return the headline: the distance of this draw's map from the true one, as far as known.

    None where no truth is known to compare with: before it is counted, and of what may leave the
    curator's screen, which holds no such number.
    """
    selection = result.request.selection
    if selection is None:
        return None
    if any(r.key == "users_used" and r.value == 0 for r in result.readouts):
        return Headline("", NOBODY, curator_only=True)
    region = selection.region
    far = next((r for r in result.readouts if r.key == in_unit(AVERAGE_ERROR, region)), None)
    if far is None:
        return None
    if far.value is not None:
        known = f"{APPROXIMATELY} {nearest(far.value, DIGITS)}"
    elif far.low is not None and far.high is not None:
        known = format_interval(far.low, far.high, OF_INTERVAL)
    else:
        return None
    mechanism, epsilon = mechanism_of(result.request), float(result.request["epsilon"])
    sentence = (
        f"Average error of this one noisy map ({mechanism.title}, "
        f"ε = {nearest(epsilon, PARAMETER_DIGITS)})."
    )
    if mechanism.comparable:
        sentence += (
            " Use “Utility” to find an ε that keeps the error below your limit in 9 of 10 maps."
        )
    beside = OF_SAMPLE if result.stamp == SYNTHETIC else ONE_DRAW
    return Headline(f"{known} {region.unit}", sentence, beside, curator_only=True)


class HeatmapStudy(Study):
    """True and private heatmap of the loaded check-ins, side by side."""

    id = "heatmap"
    references = REFERENCES
    parameters = PARAMETERS
    needs_data = True
    page = PAGE
    presets = PRESETS
    plots = (
        Plot(
            Quantity("", "", "map", ()),
            (),
            sliders=("epsilon", "mechanism", "resolution", "sigma"),
            headline=of_draw,
        ),
    )

    def advice(self, request: Request) -> Advice:
        """Return which mechanism to take."""
        return recommend(request)

    def simulation_id(self, values: Mapping[str, Value]) -> str:
        """Return the release id of a mechanism that users would have to run themselves."""
        return MECHANISMS[str(values["mechanism"])].simulated

    def used_values(self, values: Mapping[str, Value]) -> Mapping[str, Value]:
        """Return the values with q and L as the adaptive quadtree clips them to the map's own ℓ."""
        if not {"q", "L", "resolution"} <= values.keys():
            return values
        own = level_of(int(values["resolution"]))
        start, last = measured_levels(own, int(values["q"]), int(values["L"]))
        return {**values, "q": start, "L": last}

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the picture, then its metrics, then a sharper and at last the exact distance.

        A coarse request ends with the metrics and the quick interval of the distance. Others add
        the losses of the map, and at last an assessment whether it is too noisy.
        """
        # Imported here, so that the window is shown before the map's mathematics is loaded.
        from explorer.studies.heatmap.losses import answers_with_losses

        return answers_with_losses(request, context)

    def public_result(self, result: Result) -> Result:
        """Return the public part of an answer: see `explorer.studies.heatmap.public`."""
        return public_result(result)
