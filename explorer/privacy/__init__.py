"""Differential privacy as pure functions: no Qt, files, clock or global random state.

The mathematics of five papers as one library. Names can be had from here, and everything else from
its package; nothing is imported before it is used.

==================  ===================================================================
`shuffle_rdp`       Rényi DP of the subsampled shuffle model, its comparators, convergence
`histograms`        counts and histograms in the shuffled model, calibrated exactly
`user_metric`       metric DP for a user's whole data, under the earth mover's distance
`coordinates`       Bayesian coordinate DP: budgets, certificates, mechanisms, regression
`heatmaps`          private heatmaps: pyramid, reconstruction, clustering, shuffle protocol
`learning`          learning from shuffled, locally private gradients
`releases`          budgets, selection, means and attacks of releases, in exact fractions
`spaces`            metric spaces, each with its earth mover's distance
`transport`         earth mover's distance on grids, exact and in brackets
`shuffling`         privacy amplification by shuffling: clones, closed form and exact
`core`              composition, subsampling, divergences; `Bound` and the checks of arguments
`noise`             noise of demonstrations, from numpy generators or counters; noise of releases,
                    from integers and the system's randomness
`odds`              how well an observer can tell two cases apart, of pairs of laws that are known
`audit`             lower bounds on ε from samples
==================  ===================================================================

Arrays in, arrays out: scalar parameters broadcast. A number outside its domain raises a
`ValueError` that names the parameter, the value and the domain. Where a number holds only under
conditions, or is one side of another, a docstring says so, and many come as a `Bound` with its
role, validity and source.

Examples
--------
ε of 10⁵ rounds of shuffled local reports (Theorem 3), from above exactly, and from below:

>>> from explorer.privacy import clone_epsilon, randomised_response_epsilon, upper_epsilon
>>> rounds = dict(eps0=2.0, k=1000, n=10**6, T=10**5, delta=1e-8)
>>> round(float(upper_epsilon(**rounds).epsilon), 4)
1.0402
>>> above, below = clone_epsilon(**rounds), randomised_response_epsilon(**rounds)
>>> round(float(above.value), 3), str(above.role), round(float(below.value), 3), str(below.role)
(0.208, 'upper bound', 0.108, 'lower bound')

The largest α₀ of one item that keeps a user's thousand items (25, 1e-12)-private among 10⁵ users,
and the noise of a histogram that is (1, 1e-6)-private:

>>> from explorer.privacy import calibrate, group_alpha0
>>> round(group_alpha0(25, 1e-12, 1000, 10**5), 3)
3.849
>>> round(calibrate(1.0, 1e-6, n=1000).noise, 1)
43.7

A budget vector for ten coordinates, two of them sensitive, and what it costs per user:

>>> import numpy as np
>>> from explorer.privacy import budget_vector, m_mean_mse
>>> c = budget_vector([0.2] * 2 + [2.0] * 8, eps=2.0, q=0.05, zeta=1.05 / 2)
>>> bool(np.all(c <= 2.0)), round(float(m_mean_mse(0.0, c, 1e4)), 3)
(True, 1.366)
"""

from explorer.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__spec__)
