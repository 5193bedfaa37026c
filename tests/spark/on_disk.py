"""A program for tests: shares a folder of days as the command line does, and looks at what Spark has on disk.

It prints, as JSON, how much waits between its steps, and whether a person can be read there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import elsewhere as ew
from elsewhere.spark import JobSecret, perturb
from elsewhere.spark.jobs import spark_of


def main() -> None:
    """With a folder that has a world and days, and the folder where Spark keeps its files."""
    folder, disk = map(Path, sys.argv[1:])
    method = ew.method("ngram", ew.World.load(folder / "w.world"), epsilon=5)
    with spark_of("local[2]") as spark, JobSecret() as secret:
        df = spark.read.parquet(str(folder / "in"))
        perturb(df, method, secret=secret).count()
        kept = b"".join(path.read_bytes() for path in disk.rglob("shuffle_*.data"))
    sys.stdout.write(json.dumps({"bytes": len(kept), "is_open": b"u17" in kept}) + "\n")


main()
