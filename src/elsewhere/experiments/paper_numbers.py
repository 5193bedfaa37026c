"""What the paper reports, typed in as data: to stand beside ours, never to be matched."""

from __future__ import annotations

# Columns of the paper's tables in our names of data sets.
_DATASETS = ("foursquare", "safegraph", "campus")

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

# Table 3 (tab:runtime-analysis): total seconds a trajectory.
SECONDS: dict[str, dict[str, float]] = {
    "ind-noreach": {"foursquare": 0.720, "safegraph": 0.791},
    "ind-reach": {"foursquare": 0.006, "safegraph": 0.006},
    "physdist": {"foursquare": 68.564, "safegraph": 61.464},
    "ngram-noh": {"foursquare": 31.879, "safegraph": 25.325},
    "ngram": {"foursquare": 5.582, "safegraph": 3.735},
}

# Table 4 (tab:hotspots): AHD in hours and ACD.
HOTSPOTS: dict[str, dict[str, tuple[float, float]]] = {
    "ind-noreach": {"foursquare": (1.58, 8.21), "safegraph": (2.52, 13.07), "campus": (2.36, 15.72)},
    "ind-reach": {"foursquare": (1.72, 9.64), "safegraph": (2.54, 9.07), "campus": (2.54, 17.83)},
    "physdist": {"foursquare": (2.22, 10.76), "safegraph": (3.34, 16.24), "campus": (4.38, 23.48)},
    "ngram-noh": {"foursquare": (1.71, 9.36), "safegraph": (2.81, 11.25), "campus": (3.29, 18.23)},
    "ngram": {"foursquare": (1.49, 13.53), "safegraph": (2.01, 16.30), "campus": (2.03, 18.74)},
}
