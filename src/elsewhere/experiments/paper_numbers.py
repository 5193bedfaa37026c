"""What the paper reports, typed in as data: to stand beside ours, never to be matched."""

from __future__ import annotations

_DATASETS = ("taxi", "safegraph", "campus")
PAPERS_DATASET = {
    "taxi": "taxi",
    "taxi-made": "taxi",
    "foursquare": "taxi",
    "safegraph": "safegraph",
    "campus": "campus",
}
"""Which of the paper's data sets stands beside which of ours.

Its Taxi-Foursquare is taxi trips on Foursquare's places. We have few real trips, made-up ones, and the
check-ins themselves.
"""

# Table 2 (tab:traj-distances): mean NE as (d_t hours, d_c, d_s km) on Taxi-Foursquare, Safegraph, Campus.
ERRORS: dict[str, dict[str, tuple[float, float, float]]] = {
    method: dict(zip(_DATASETS, numbers, strict=True))
    for method, numbers in {
        "ind-noreach": ((1.44, 3.81, 1.99), (1.47, 2.87, 2.14), (2.06, 1.35, 0.87)),
        "ind-reach": ((1.43, 3.80, 2.03), (1.50, 2.94, 2.31), (2.03, 1.39, 0.89)),
        "physdist": ((1.61, 8.74, 1.85), (1.62, 8.38, 2.10), (2.16, 3.04, 0.90)),
        "ngram-noh": ((1.63, 4.25, 2.07), (1.62, 3.37, 2.33), (2.14, 1.46, 0.88)),
        "ngram": ((1.18, 1.82, 2.24), (0.93, 1.31, 2.12), (1.21, 0.81, 0.83)),
    }.items()
}

# Table 3 (tab:runtime-analysis): seconds a trajectory for perturbing, preparing the reconstruction, optimal
# reconstruction, all other, and in total; None where the paper has a dash.
_NO = None
SECONDS: dict[str, dict[str, tuple[float | None, ...]]] = {
    "ind-noreach": {"taxi": (0.005, _NO, _NO, 0.714, 0.720), "safegraph": (0.006, _NO, _NO, 0.786, 0.791)},
    "ind-reach": {"taxi": (0.005, _NO, _NO, 0.000, 0.006), "safegraph": (0.005, _NO, _NO, 0.000, 0.006)},
    "physdist": {
        "taxi": (0.449, 0.497, 67.618, 0.000, 68.564),
        "safegraph": (0.431, 0.473, 60.561, 0.000, 61.464),
    },
    "ngram-noh": {
        "taxi": (0.446, 0.561, 30.872, 0.000, 31.879),
        "safegraph": (0.426, 0.509, 24.389, 0.000, 25.325),
    },
    "ngram": {"taxi": (0.056, 0.132, 4.892, 0.502, 5.582), "safegraph": (0.126, 0.235, 3.196, 0.178, 3.735)},
}

# Table 4 (tab:hotspots): AHD in hours and ACD.
HOTSPOTS: dict[str, dict[str, tuple[float, float]]] = {
    method: dict(zip(_DATASETS, numbers, strict=True))
    for method, numbers in {
        "ind-noreach": ((1.58, 8.21), (2.52, 13.07), (2.36, 15.72)),
        "ind-reach": ((1.72, 9.64), (2.54, 9.07), (2.54, 17.83)),
        "physdist": ((2.22, 10.76), (3.34, 16.24), (4.38, 23.48)),
        "ngram-noh": ((1.71, 9.36), (2.81, 11.25), (3.29, 18.23)),
        "ngram": ((1.49, 13.53), (2.01, 16.30), (2.03, 18.74)),
    }.items()
}
