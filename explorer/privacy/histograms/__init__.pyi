from explorer.privacy.histograms.baselines import (
    central_error as central_error,
    central_rmse as central_rmse,
    local_error as local_error,
    local_rmse as local_rmse,
    stable_error as stable_error,
)
from explorer.privacy.histograms.calibration import (
    CONDITION as CONDITION,
    Calibration as Calibration,
    Query as Query,
    calibrate as calibrate,
    least_users as least_users,
)
from explorer.privacy.histograms.count_divergence import (
    Adjacency as Adjacency,
    Directions as Directions,
    count_delta as count_delta,
    count_divergences as count_divergences,
)
from explorer.privacy.histograms.error_laws import (
    ErrorLaw as ErrorLaw,
    error_law as error_law,
    error_tail as error_tail,
    output_law as output_law,
)
from explorer.privacy.histograms.joint_delta import (
    histogram_delta as histogram_delta,
)
from explorer.privacy.histograms.mechanism import (
    Sent as Sent,
    count_analyzer as count_analyzer,
    count_randomizer as count_randomizer,
    estimates as estimates,
    estimates_without as estimates_without,
    hist as hist,
    histogram_analyzer as histogram_analyzer,
    histogram_randomizer as histogram_randomizer,
    shuffler as shuffler,
    simulate_count as simulate_count,
    simulate_histogram as simulate_histogram,
    zsum as zsum,
)
from explorer.privacy.histograms.protocol import (
    count_messages as count_messages,
    error_bound as error_bound,
    histogram_messages as histogram_messages,
    histogram_parameters as histogram_parameters,
    printed_error as printed_error,
    printed_least_users as printed_least_users,
    printed_noise as printed_noise,
    printed_p as printed_p,
    printed_simultaneous_error as printed_simultaneous_error,
    simultaneous_error as simultaneous_error,
)
from explorer.privacy.histograms.reductions import (
    PointerChasing as PointerChasing,
    PointerJumping as PointerJumping,
    chase as chase,
    draw_support_samples as draw_support_samples,
    identify_support as identify_support,
    jump as jump,
    pointer_chasing as pointer_chasing,
    pointer_jumping as pointer_jumping,
    solve_pointer_chasing as solve_pointer_chasing,
    solve_pointer_jumping as solve_pointer_jumping,
)
from explorer.privacy.histograms.sample_complexity import (
    Samples as Samples,
    calibrated_error as calibrated_error,
    exact_samples as exact_samples,
    least_samples as least_samples,
    missing_probability as missing_probability,
    noise_radius as noise_radius,
    printed_samples as printed_samples,
)
from explorer.privacy.histograms.views import (
    Privacy as Privacy,
    Randomizer as Randomizer,
    hist_randomizer as hist_randomizer,
    pre_shuffled as pre_shuffled,
    privacy_of_views as privacy_of_views,
    r_gap as r_gap,
    r_infinity as r_infinity,
    randomized_response as randomized_response,
    shuffled_delta as shuffled_delta,
    shuffled_epsilon as shuffled_epsilon,
    shuffled_view as shuffled_view,
    simulates_locally as simulates_locally,
    single_message_epsilon as single_message_epsilon,
    zsum_randomizer as zsum_randomizer,
)
