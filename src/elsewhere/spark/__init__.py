"""Many people's days on a cluster: `perturb`, `answer` and `estimate` on data frames of PySpark 4.

It needs the `spark` extra and Java, and works the same over Spark Connect.
"""

from elsewhere.spark.frames import answer, counted, estimate, perturb
from elsewhere.spark.secret import JobSecret

__all__ = ["JobSecret", "answer", "counted", "estimate", "perturb"]
