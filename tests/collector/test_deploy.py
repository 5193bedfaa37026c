"""`deploy/` fits together and fits the program, and its command lines run: all that needs no Docker."""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import typer

from deployed import (
    DEPLOY,
    ROOT,
    command_lines,
    compose,
    dockerfile,
    given,
    read_yaml,
    unit,
    unit_environment,
)
from elsewhere.cli.main import app
from elsewhere.collector import requests as collector_requests
from elsewhere.collector import serve as collector_serve
from elsewhere.collector.openapi import openapi
from elsewhere.collector.requests import BYTES
from elsewhere.collector.store import Store
from elsewhere.survey.file import save_survey
from elsewhere.survey.survey import Survey
from made_reports import free_port, some_reports
from running import Running

SERVICES: dict[str, Any] = compose()["services"]
PAGE = ROOT / "docs/how-to/run-a-survey-as-an-agency.md"
_PASSWORD = "correct-horse-battery-staple"  # noqa: S105 - of a database that lives for one test
_RUN = "from elsewhere.cli.main import run; run()"


def _options(place: str) -> dict[str, Any]:
    """A command line of `deploy/` as the program itself reads it: an option that is gone is an error."""
    program, *words = command_lines()[place]
    assert Path(program).name == "elsewhere"
    return _parsed(words)


def _parsed(words: list[str]) -> dict[str, Any]:
    words = list(words)
    command: Any = typer.main.get_command(app)
    while hasattr(command, "get_command"):
        context = command.make_context("elsewhere", [words[0], "--help"], resilient_parsing=True)
        command = command.get_command(context, words.pop(0))
        assert command is not None
    return dict(command.make_context("elsewhere", words).params)


def _seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def _mounts(service: str) -> dict[str, str]:
    """What is mounted where, by where."""
    found = {}
    for entry in SERVICES[service]["volumes"]:
        if isinstance(entry, str):
            source, target = entry.split(":")
            assert source in compose()["volumes"]
        else:
            source, target = entry["source"], entry["target"]
            assert entry["read_only"] is True
            assert entry["bind"] == {"create_host_path": False}  # else a missing file becomes a folder
        found[target] = source
    return found


# What the files say.


def test_the_plain_reader_of_yaml_reads_as_others_do() -> None:
    yaml = pytest.importorskip("yaml")
    assert compose() == yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_the_plain_reader_refuses_what_it_does_not_know() -> None:
    with pytest.raises(AssertionError, match="twice"):
        read_yaml("a: 1\na: 2\n")
    with pytest.raises(AssertionError):
        read_yaml("a: 1\n  b: 2\n")


@pytest.mark.parametrize("place", command_lines())
def test_every_command_line_is_one_of_the_program(place: str) -> None:
    options = _options(place)
    assert options["survey_file"].name == "city.survey"
    assert options["token_file"].name == "city.token"
    assert options["port"] == 8063
    assert ":" not in options["store"].partition("://")[2].partition("@")[0], "a password that ps would show"


def test_commands_that_the_page_shows_but_nobody_runs_are_commands_of_the_program() -> None:
    blocks = re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    shown = [line.partition("elsewhere survey ")[2].split() for line in lines if "elsewhere survey " in line]
    assert {words[0] for words in shown} == {
        "invite", "serve", "simulate", "backup", "export", "estimate",
    }  # fmt: skip
    for words in shown:
        assert _parsed(["survey", *words])["survey_file"].name == "city.survey"
        if "database" in " ".join(words):
            assert _parsed(["survey", *words])["store"] == _options("compose.yaml")["store"]


def test_the_port_is_the_same_everywhere() -> None:
    port = str(_options("compose.yaml")["port"])
    assert given("EXPOSE") == port
    assert SERVICES["proxy"]["environment"]["COLLECTOR"] == f"collector:{port}"
    assert f"http://127.0.0.1:{port}/v1/health'" in given("HEALTHCHECK")
    assert f"{{$COLLECTOR:127.0.0.1:{port}}}" in (DEPLOY / "Caddyfile").read_text()
    assert "/v1/health" in openapi("0" * 64)["paths"]


def test_the_image_runs_as_nobody_in_particular_and_writes_in_one_folder() -> None:
    user, _, group = given("USER").partition(":")
    assert user == group != "0"
    folder = given("VOLUME")
    runs = [rest for name, rest in dockerfile() if name == "RUN"]
    assert any(f"--uid {user} " in rest and rest.endswith(folder) for rest in runs)
    assert given("WORKDIR") == folder
    assert f"NUMBA_CACHE_DIR={folder}/" in given("ENV")
    for place in ("Dockerfile", "compose.yaml"):
        assert _options(place)["token_file"].parent == Path(folder)
        assert _options(place)["host"] == "0.0.0.0"  # noqa: S104 - in a container; see its networks
    assert Path(_options("Dockerfile")["store"]).parent == Path(folder)
    assert SERVICES["collector"]["read_only"] is True
    assert SERVICES["collector"]["tmpfs"] == ["/tmp"]  # noqa: S108 - results are made there
    # Whoever follows the page gives the secret to that very user.
    assert f"chown {user} " in PAGE.read_text()


def test_what_the_collector_reads_is_mounted_where_it_looks() -> None:
    mounts = _mounts("collector")
    options = _options("compose.yaml")
    assert mounts[str(options["survey_file"])] == "./city.survey"
    assert str(options["token_file"].parent) in mounts
    assert mounts.keys() == {str(options["survey_file"]), given("VOLUME")}
    assert _mounts("proxy")["/etc/caddy/Caddyfile"] == "./Caddyfile"
    assert (DEPLOY / "Caddyfile").exists()
    # From PostgreSQL 18 on the data is in /var/lib/postgresql/18/docker, and this is the image's volume.
    assert SERVICES["database"]["image"].startswith("postgres:18")
    assert _mounts("database").keys() == {"/var/lib/postgresql"}


def test_the_collector_believes_the_proxy_alone() -> None:
    proxy = ipaddress.ip_address(SERVICES["proxy"]["networks"]["front"]["ipv4_address"])
    assert _options("compose.yaml")["proxy"] == str(proxy)
    (pool,) = compose()["networks"]["front"]["ipam"]["config"]
    network, given_out = (ipaddress.IPv4Network(pool[name]) for name in ("subnet", "ip_range"))
    assert proxy in network
    # The first address is the gateway's. Others are given out from the range: never the proxy's.
    assert proxy not in {network.network_address, network[1], network.broadcast_address}
    assert given_out.subnet_of(network)
    assert proxy not in given_out
    assert _options("elsewhere-collector.service")["proxy"] == "127.0.0.1"
    assert _options("elsewhere-collector.service")["host"] == "127.0.0.1"


def test_only_the_proxy_is_reached_from_outside() -> None:
    networks = compose()["networks"]
    assert [name for name, one in networks.items() if not one.get("internal")] == ["outside"]
    assert {name: set(service["networks"]) for name, service in SERVICES.items()} == {
        "proxy": {"outside", "front"},
        "collector": {"front", "back"},
        "database": {"back"},
    }
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert SERVICES["proxy"]["ports"] == ["80:80", "443:443"]


def test_services_wait_for_each_other_and_know_their_names() -> None:
    for name, service in SERVICES.items():
        for other, how in service.get("depends_on", {}).items():
            assert other in SERVICES, name
            assert how == {"condition": "service_healthy"}
            assert "healthcheck" in SERVICES[other] or "build" in SERVICES[other]
    store = sa.make_url(_options("compose.yaml")["store"])
    database = SERVICES["database"]
    assert database is SERVICES[store.host or ""]
    assert database["environment"]["POSTGRES_USER"] == store.username
    assert database["environment"]["POSTGRES_DB"] == store.database
    test = database["healthcheck"]["test"]
    assert {f"--username={store.username}", f"--dbname={store.database}"} <= set(test)
    build = SERVICES["collector"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()


def test_every_image_has_a_version() -> None:
    images = [service["image"] for service in SERVICES.values()]
    images += [rest.split()[0] for name, rest in dockerfile() if name == "FROM"]
    assert len(images) == 5
    for image in images:
        assert re.search(r":\d", image), image
    assert "latest" not in (DEPLOY / "compose.yaml").read_text() + (DEPLOY / "Dockerfile").read_text()
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert f"python:{wanted.removeprefix('>=')}-" in images[-1]


def test_no_password_stands_in_a_file() -> None:
    for path in [*DEPLOY.iterdir(), PAGE]:
        if path.is_file() and path.suffix != ".survey":
            assert not re.search(r"://[^\s/@]+:[^\s/@]+@", path.read_text()), path
            assert not re.search(r"PASS(WORD)?=|PASSWORD: *\S", path.read_text()), path
    declared = compose()["secrets"]
    for service in SERVICES.values():
        assert set(service.get("secrets", [])) <= declared.keys()
        for name, value in service.get("environment", {}).items():
            if "PASS" in name:
                assert name.endswith("FILE")
                assert value.removeprefix("/run/secrets/") in service["secrets"]
    for secret in declared.values():
        assert list(secret) == ["file"]
        assert secret["file"].startswith("./secrets/")
        assert secret["file"].removeprefix("./") in PAGE.read_text()
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"/deploy/secrets/", "/deploy/*.survey"} <= set(ignored)


def test_the_image_is_built_of_what_it_needs_and_of_nothing_else() -> None:
    """`.dockerignore` is read at the root of what is sent to the builder, which is the repository's."""
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] != "#"]
    assert lines[0] == "*"
    allowed = {line.removeprefix("!") for line in lines if line.startswith("!")}
    copies = [rest.split()[:-1] for name, rest in dockerfile() if name == "COPY" and "--from" not in rest]
    copied = {word for words in copies for word in words}
    assert copied == allowed
    assert all((ROOT / name).exists() for name in copied)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {project["readme"], *project["license-files"]} <= copied
    assert "collector" in project["optional-dependencies"]
    assert any('--constraint constraints.txt ".[collector]"' in rest for _, rest in dockerfile())


def test_the_proxy_logs_nobody_and_lets_no_more_in_than_the_collector() -> None:
    text = (DEPLOY / "Caddyfile").read_text()
    plain = "\n".join(line for line in text.splitlines() if not line.strip().startswith("#"))
    options, site = plain.split("{$SURVEY_HOST} {")
    assert re.search(r"log default \{\s+level WARN\s+exclude http\s+\}", options)
    assert not re.search(r"^\s*log\b", site, re.MULTILINE), "an access log"
    assert "trusted_proxies" not in plain, "what people say of their address would be passed on"
    (most,) = re.findall(r"max_size (\d+)KB", site)
    assert int(most) * 1000 == max(collector_requests._MOST_BODY.values())
    assert "SURVEY_HOST" in SERVICES["proxy"]["environment"]


def test_there_is_time_to_stop() -> None:
    (patience,) = unit()["TimeoutStopSec"]
    for given_time in (patience, SERVICES["collector"]["stop_grace_period"]):
        assert _seconds(given_time) > collector_serve._KEPT_OPEN + 10
    assert unit()["KillSignal"] == [given("STOPSIGNAL")] == ["SIGTERM"]
    assert unit()["Restart"] == ["on-failure"]


def test_the_unit_can_write_in_its_own_folders_alone() -> None:
    found, options = unit(), _options("elsewhere-collector.service")
    for name in ("NoNewPrivileges", "PrivateTmp", "ProtectHome", "RestrictSUIDSGID"):
        assert found[name] == ["yes"]
    assert found["ProtectSystem"] == ["strict"]
    assert found["User"] != ["root"]
    state = Path("/var/lib") / found["StateDirectory"][0]
    assert {options["token_file"].parent, Path(options["store"]).parent} == {state}
    assert found["WorkingDirectory"] == [str(state)]
    assert unit_environment()["NUMBA_CACHE_DIR"] == f"/var/cache/{found['CacheDirectory'][0]}"
    assert "MemoryDenyWriteExecute" not in found, "numba could not compile"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path) -> None:
    (start,) = unit()["ExecStart"]
    text = (DEPLOY / "elsewhere-collector.service").read_text()
    path = tmp_path / "elsewhere-collector.service"
    path.write_text(text.replace(start.split()[0], sys.executable))  # it wants a program that is there
    found = subprocess.run(  # noqa: S603 - our own unit
        ["systemd-analyze", "verify", path],  # noqa: S607 - whichever there is
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    ours = [line for line in found.stderr.splitlines() if "elsewhere-collector" in line]
    assert (found.returncode, ours) == (0, [])


# What can be run of it without Docker and systemd: the command lines themselves.


class Deployed(Running):
    """A command line of `deploy/`, word for word but for names that only a real machine has."""

    def __init__(self, place: str, names: dict[str, str], *more: str, **environment: str) -> None:
        self.port = free_port()
        words = " ".join(command_lines()[place][1:])
        for name, here in {"0.0.0.0": "127.0.0.1", **names}.items():  # noqa: S104 - the other way round
            words = words.replace(name, here)
        words = words.replace("--port 8063", "")
        self.arguments = [*words.split(), "--port", str(self.port), *more]
        self._code = _RUN
        self._environment = {**os.environ, **environment}
        self.start()

    def start(self) -> None:
        with pytest.MonkeyPatch.context() as patched:
            for name, value in self._environment.items():
                patched.setenv(name, value)
            super().start()

    def stopped(self) -> tuple[int, str]:
        """Told to stop as systemd and Docker do: how it ended, and what it complained of."""
        complaint = self.end(signal.SIGTERM)
        return self.process.returncode, complaint

    def post(self, body: bytes, source: str = "127.0.0.1", **headers: str) -> int:
        """Hand in reports from an address of this machine."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=30, source_address=(source, 0)
        )
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", "/v1/reports", body, {"Content-Type": BYTES, **named})
        status = connection.getresponse().status
        connection.close()
        return status

    def get(self, path: str, token: str) -> tuple[int, Any]:
        """What an analyst is told, once it is ready."""
        for _ in range(10):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            found = answer.status, json.loads(answer.read())
            connection.close()
            if found[0] != 503:
                break
        return found


def _packed(survey: Survey, count: int) -> bytes:
    return b"".join(report.to_bytes() for report in some_reports(survey, count))


def _is_stopped_by_the_signal(code: int) -> bool:
    """It ends by the signal itself, which systemd takes for a clean end; as process 1 with 0."""
    return code in {-signal.SIGTERM, 0}


def _health(port: int) -> int:
    """How the image's own check of health ends, at another port."""
    program, *words = json.loads(given("HEALTHCHECK").partition("CMD ")[2])
    assert program == "python"
    words = [word.replace("8063", str(port)) for word in words]
    done = subprocess.run([sys.executable, *words], capture_output=True, check=False, timeout=30)  # noqa: S603 - ours
    return done.returncode


def test_the_units_command_keeps_reports_and_stops_when_told(tmp_path: Path, survey: Survey) -> None:
    save_survey(survey, tmp_path / "city.survey")
    names = {"/etc/elsewhere": str(tmp_path), "/var/lib/elsewhere": str(tmp_path)}
    running = Deployed("elsewhere-collector.service", names)
    assert running.post(_packed(survey, 100)) == 201
    assert _health(running.port) == 0
    code, complaint = running.stopped()
    assert _health(running.port) != 0
    assert complaint == ""
    assert _is_stopped_by_the_signal(code)
    assert (tmp_path / "city.token").stat().st_mode & 0o777 == 0o600
    store = Store(str(tmp_path / "reports.db"), survey)
    assert store.count() == 100
    store.close()


@pytest.fixture
def guarded(postgres: str, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A database that asks its user for a password, and a file with the password for psycopg."""
    name = f"g{abs(hash(tmp_path)):x}"
    engine = sa.create_engine(
        sa.make_url(postgres).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE ROLE {name} LOGIN PASSWORD '{_PASSWORD}'"))
        connection.execute(sa.text(f"CREATE DATABASE {name} OWNER {name}"))
        rules = Path(str(connection.scalar(sa.text("SHOW hba_file"))))
        before = rules.read_text()
        rules.write_text(f"local all {name} scram-sha-256\n{before}")
        connection.execute(sa.text("SELECT pg_reload_conf()"))
        path = tmp_path / "pgpass"
        path.write_text(f"*:*:{name}:{name}:{_PASSWORD}\n")
        path.chmod(0o600)
        url = sa.make_url(postgres).set(database=name, username=name, password=None)
        yield url.render_as_string(hide_password=False).replace(":@", "@"), path
        rules.write_text(before)
        connection.execute(sa.text("SELECT pg_reload_conf()"))
    engine.dispose()


def _compose_names(folder: Path, store: str) -> dict[str, str]:
    return {
        "/srv/city.survey": str(folder / "city.survey"),
        "/var/lib/elsewhere": str(folder),
        "postgresql://elsewhere@database/elsewhere": store,
        SERVICES["proxy"]["networks"]["front"]["ipv4_address"]: "127.0.0.200",
    }


def test_composes_command_reads_the_password_from_a_file(
    tmp_path: Path, survey: Survey, guarded: tuple[str, Path]
) -> None:
    """PGPASSFILE is enough, also for the process that makes results; `ps` shows no password."""
    store, passwords = guarded
    save_survey(survey, tmp_path / "city.survey")
    assert _PASSWORD not in store
    running = Deployed(
        "compose.yaml", _compose_names(tmp_path, store), "--limit", "400", PGPASSFILE=str(passwords)
    )
    assert _PASSWORD not in Path(f"/proc/{running.process.pid}/cmdline").read_text()
    # Only the proxy is believed when it says where reports come from.
    assert running.post(_packed(survey, 400), "127.0.0.200", X_Forwarded_For="192.0.2.1") == 201
    assert running.post(_packed(survey, 1), "127.0.0.200", X_Forwarded_For="192.0.2.1") == 429
    assert running.post(_packed(survey, 1), "127.0.0.200", X_Forwarded_For="192.0.2.2") == 201
    assert running.post(_packed(survey, 400), "127.0.0.2", X_Forwarded_For="192.0.2.3") == 201
    assert running.post(_packed(survey, 1), "127.0.0.2", X_Forwarded_For="192.0.2.4") == 429
    token = (tmp_path / "city.token").read_text().strip()
    status, found = running.get("/v1/estimates", token)
    assert (status, found.get("reports")) == (200, 801), found
    code, complaint = running.stopped()
    assert complaint == ""
    assert _is_stopped_by_the_signal(code)


@pytest.mark.parametrize(
    "fault",
    [
        "another password",
        *(pytest.param(fault, marks=pytest.mark.audit) for fault in ("others read it", "none")),
    ],
)
def test_without_the_password_it_does_not_start_and_tells_nothing(
    tmp_path: Path, survey: Survey, guarded: tuple[str, Path], fault: str
) -> None:
    store, passwords = guarded
    save_survey(survey, tmp_path / "city.survey")
    if fault == "another password":
        passwords.write_text(passwords.read_text().replace("horse", "cow"))
    elif fault == "others read it":
        passwords.chmod(0o644)  # libpq then leaves it alone
    else:
        passwords.unlink()
    command = [sys.executable, "-c", _RUN, "survey", "serve", str(tmp_path / "city.survey"), "--store", store]
    done = subprocess.run(  # noqa: S603 - our own program
        [*command, "--port", str(free_port())],
        env={**os.environ, "PGPASSFILE": str(passwords)},
        capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "password" in done.stderr
    assert _PASSWORD not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.fixture
def caddy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Starts the Caddyfile without TLS in front of a port; its own port, and a way to end it with its log."""
    program = shutil.which("caddy")
    if program is None:
        pytest.skip("there is no Caddy")
    log, port = tmp_path / "caddy.log", free_port()
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("SURVEY_HOST", f"http://localhost:{port}")
    started: list[subprocess.Popen[bytes]] = []

    def start(behind: int) -> int:
        monkeypatch.setenv("COLLECTOR", f"127.0.0.1:{behind}")
        with log.open("wb") as file:
            command = [program, "run", "--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile"]
            started.append(subprocess.Popen(command, stdout=file, stderr=file))  # noqa: S603 - found above
        return port

    def end() -> str:
        started[0].terminate()
        started[0].wait(timeout=30)
        return log.read_text()

    yield start, end
    for process in started:
        process.kill()
        process.wait(timeout=30)


def _asked(port: int, method: str, path: str, body: bytes | None = None, **headers: str) -> Any:
    """An answer through the proxy, which may take a moment to start."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    for _ in range(100):
        connection = http.client.HTTPConnection("localhost", port, timeout=30)
        try:
            connection.request(method, path, body, {"Content-Type": BYTES, "User-Agent": "spy", **named})
            answer = connection.getresponse()
            answer.read()
        except ConnectionRefusedError:
            time.sleep(0.1)
        else:
            return answer
        finally:
            connection.close()
    raise AssertionError("the proxy does not start")


def test_the_proxy_passes_on_true_addresses_and_writes_none_down(
    tmp_path: Path, survey: Survey, caddy: Any
) -> None:
    save_survey(survey, tmp_path / "city.survey")
    names = {"/etc/elsewhere": str(tmp_path), "/var/lib/elsewhere": str(tmp_path)}
    running = Deployed("elsewhere-collector.service", names, "--limit", "1")
    start, end = caddy
    port = start(running.port)
    answer = _asked(port, "GET", "/v1/survey")
    assert (answer.status, answer.getheader("Strict-Transport-Security")) == (200, "max-age=31536000")
    # Who makes up an address is still the same person: the limit of one report holds.
    first = _asked(port, "POST", "/v1/reports", _packed(survey, 1), X_Forwarded_For="192.0.2.1")
    second = _asked(port, "POST", "/v1/reports", _packed(survey, 1), X_Forwarded_For="192.0.2.2")
    assert (first.status, second.status) == (201, 429)
    # Caddy 2.6 says 502 where later ones say 413.
    assert _asked(port, "POST", "/v1/reports", bytes(400_001)).status in {413, 502}
    assert running.stopped()[1] == ""
    assert _asked(port, "GET", "/v1/survey").status == 502
    log = end()
    assert "config_file" in log
    assert not re.search("spy|remote_ip|http.log|192.0.2", log)
