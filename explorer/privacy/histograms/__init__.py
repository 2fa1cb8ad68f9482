"""Histograms in the shuffled model: P_zsum, P_hist, what they guarantee and what they cost.

Balcer & Cheu, *Separating Local & Shuffled Differential Privacy via Histograms* (ITC 2020).
q = 1−p is the probability that a user does *not* send a noise bit; n·q is the noise. The paper's
constants (`printed_…`) and the noise calibrated by the exact δ (`calibrate`) stand side by side;
the second is 20 to 90 times less, under the conditions in `CONDITION`.
"""

from __future__ import annotations

from explorer.privacy.histograms.calibration import (
    CONDITION,
    Calibration,
    Query,
    calibrate,
    least_users,
)
from explorer.privacy.histograms.count_delta import (
    Adjacency,
    Directions,
    count_delta,
    count_divergences,
)
from explorer.privacy.histograms.error_law import (
    ErrorLaw,
    error_law,
    error_tail,
    output_law,
)
from explorer.privacy.histograms.joint_delta import (
    histogram_delta,
)
from explorer.privacy.histograms.mechanism import (
    Sent,
    count_analyzer,
    count_randomizer,
    estimates,
    hist,
    histogram_analyzer,
    histogram_randomizer,
    shuffler,
    simulate_count,
    simulate_histogram,
    zsum,
)
from explorer.privacy.histograms.protocol import (
    count_messages,
    error_bound,
    histogram_messages,
    histogram_parameters,
    printed_error,
    printed_least_users,
    printed_noise,
    printed_p,
    printed_simultaneous_error,
    simultaneous_error,
)
from explorer.privacy.histograms.reductions import (
    PointerChasing,
    PointerJumping,
    chase,
    draw_support_samples,
    identify_support,
    jump,
    pointer_chasing,
    pointer_jumping,
    solve_pointer_chasing,
    solve_pointer_jumping,
)
from explorer.privacy.histograms.sample_complexity import (
    Samples,
    calibrated_error,
    exact_samples,
    least_samples,
    missing_probability,
    noise_radius,
    printed_samples,
)
from explorer.privacy.histograms.tables import (
    Row,
    table1,
    table2,
)
from explorer.privacy.histograms.views import (
    Privacy,
    Randomizer,
    hist_randomizer,
    pre_shuffled,
    privacy_of_views,
    r_gap,
    r_infinity,
    randomized_response,
    shuffled_delta,
    shuffled_epsilon,
    shuffled_view,
    simulates_locally,
    zsum_randomizer,
)

__all__ = [
    "CONDITION",
    "Adjacency",
    "Calibration",
    "Directions",
    "ErrorLaw",
    "PointerChasing",
    "PointerJumping",
    "Privacy",
    "Query",
    "Randomizer",
    "Row",
    "Samples",
    "Sent",
    "calibrate",
    "calibrated_error",
    "chase",
    "count_analyzer",
    "count_delta",
    "count_divergences",
    "count_messages",
    "count_randomizer",
    "draw_support_samples",
    "error_bound",
    "error_law",
    "error_tail",
    "estimates",
    "exact_samples",
    "hist",
    "hist_randomizer",
    "histogram_analyzer",
    "histogram_delta",
    "histogram_messages",
    "histogram_parameters",
    "histogram_randomizer",
    "identify_support",
    "jump",
    "least_samples",
    "least_users",
    "missing_probability",
    "noise_radius",
    "output_law",
    "pointer_chasing",
    "pointer_jumping",
    "pre_shuffled",
    "printed_error",
    "printed_least_users",
    "printed_noise",
    "printed_p",
    "printed_samples",
    "printed_simultaneous_error",
    "privacy_of_views",
    "r_gap",
    "r_infinity",
    "randomized_response",
    "shuffled_delta",
    "shuffled_epsilon",
    "shuffled_view",
    "shuffler",
    "simulate_count",
    "simulate_histogram",
    "simulates_locally",
    "simultaneous_error",
    "solve_pointer_chasing",
    "solve_pointer_jumping",
    "table1",
    "table2",
    "zsum",
    "zsum_randomizer",
]
