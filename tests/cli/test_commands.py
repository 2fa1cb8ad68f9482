"""The command line as a user types it: results in files, errors in one sentence, exit codes."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import click
import numpy as np
import pytest

from explorer import __version__
from explorer.cli import run
from explorer.cli.options import parse_size
from explorer.engine.session.recipe import recipe_from_dict
from explorer.figures.recipes import read_recipe
from tests import snapshots
from tests.figures.reading import everything_in
from tests.figures.samples import ALL_OF_MAPS, CELLS

SMALL = ("--resolution", "32", "--users", "100", "--seed", "7", "--quiet")


@pytest.fixture
def tiny_file(tmp_path: Path) -> Path:
    """Six users around Cape Town (both coordinates negative or small), two bad rows."""
    path = tmp_path / "cape.txt"
    lines = [
        f"{user}\t2010-01-{day:02d}T12:00:00Z\t{-34.0 - user / 100}\t{18.4 + day / 100}\t{day}"
        for user in range(6)
        for day in range(1, 6)
    ]
    lines[3] = "2\tyesterday\t-34.02\t18.44\t4"
    lines.append("1\t2010-01-09T12:00:00Z\t0.0\t0.0\t9")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert __version__ in capsys.readouterr().out
    assert run(["heatmap", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--epsilon" in shown
    assert "--top-percent" in shown


def test_heatmap_prints_counts_metrics_and_recipe(
    tiny_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "out.png"
    code = run(
        [
            "heatmap",
            str(tiny_file),
            "--region",
            "-34.2,18.3,-33.9,18.6",
            "--epsilon",
            "2.5",
            "--json",
            "--output",
            str(picture),
            *SMALL,
        ]
    )
    printed = json.loads(capsys.readouterr().out)
    assert code == 0
    assert printed["rows"]["read"] == 31
    assert printed["rows"]["kept"] == 29
    assert sum(printed["rows"]["set_aside"].values()) == 2
    assert printed["users"] == {"in_file": 6, "in_region": 6, "used": 6}
    assert np.isclose(sum(printed["epsilon_per_level"].values()), 2.5)
    m = printed["metrics"]
    assert 0 <= m["emd_lower"] <= m["emd"] <= m["emd_upper"] <= 2
    assert 0 <= m["similarity"] <= 1
    assert m["loss_sentence"].startswith("About ")
    assert m["loss_sentence"].endswith("in the top 10.")
    assert m["noise_warning"] is None or "noisy" in m["noise_warning"]
    assert printed["seed"] == 7
    assert "not private" in printed["stamp"]
    recipe = recipe_from_dict(printed["recipe"])
    assert recipe.request["epsilon"] == 2.5
    assert recipe.data_name == "cape.txt"
    assert str(tmp_path) not in json.dumps(printed)
    assert recipe_from_dict(read_recipe(picture)).request == recipe.request


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "levels"),
    [
        (["adaptive"], {"2", "3", "4", "5"}),
        (["adaptive", "--rho", "0.5", "--tau", "4", "--q", "1", "--L", "3"], {"1", "2", "3"}),
        (["capped", "--n0", "50"], {"2", "3"}),
        (["least-squares", "--n0", "50", "--w", "4"], {"1", "2", "3"}),
        (["dense", "--n0", "50"], {"3"}),
        (["gaussian", "--delta", "1e-9"], {"5"}),
        (["integers"], {"5"}),
    ],
)
def test_every_mechanism_from_the_command_line(
    tiny_file: Path, capsys: pytest.CaptureFixture[str], words: list[str], levels: set[str]
) -> None:
    region = ["--region", "-34.2,18.3,-33.9,18.6"]
    chosen = ["--mechanism", *words, "--epsilon", "2", "--json"]
    assert run(["heatmap", str(tiny_file), *region, *chosen, *SMALL]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert set(printed["epsilon_per_level"]) == levels
    assert sum(printed["epsilon_per_level"].values()) == pytest.approx(2)
    assert printed["metrics"]["emd"] is not None


@pytest.mark.full
def test_every_file_that_is_written_is_named(
    tiny_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    region = ["--region", "-34.2,18.3,-33.9,18.6"]
    files = [tmp_path / "map.csv", tmp_path / "rows.csv"]
    words = ["--output", str(files[0]), "--set-aside", str(files[1]), "--json"]
    assert run(["heatmap", str(tiny_file), *region, *words, *SMALL]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)  # nothing but the document
    for file in files:
        assert f"written: {file} (" in said.err


@pytest.mark.full
def test_the_same_seed_gives_the_same_map_and_another_does_not(
    tiny_file: Path, tmp_path: Path
) -> None:
    def numbers(seed: str, name: str) -> str:
        out = tmp_path / name
        words = ["--region=-34.2,18.3,-33.9,18.6", "--output", str(out), "--panes", "private"]
        assert run(["heatmap", str(tiny_file), *words, *SMALL, "--seed", seed]) == 0
        lines = out.read_text(encoding="utf-8").splitlines()
        return "\n".join(line for line in lines if not line.startswith("#"))

    first = numbers("1", "a.csv")
    assert first == numbers("1", "b.csv")
    assert first != numbers("2", "c.csv")
    header = first.splitlines()[0]
    assert "private" in header
    assert "true" not in header


@pytest.mark.full
@pytest.mark.parametrize("suffix", [".svg", ".csv"])
def test_bounds_in_every_format_carry_the_recipe(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"curves{suffix}"
    words = ["--sweep", "eps0=0.1:2:3", "--set", "n=2000", "--output", str(out)]
    assert run(["bounds", "amplification", *words]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert re.search(rf"^written: {re.escape(str(out))} \([\d.]+ (bytes|kB|MB)\)\n", said.err, re.M)
    recipe = recipe_from_dict(read_recipe(out))
    assert recipe.request["n"] == 2000
    assert recipe.request.sweep is not None
    assert recipe.request.sweep.high == 2


def test_bounds_reproduce_the_headline_of_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    """Figure 2(a) at T = 1e5: Theorem 3 gives 1.0402185 (the specification's headline table)."""
    words = ["--sweep", "T=1e5:1e5:1", "--set", "eps0=2", "--set", "k=1000", "--set", "n=1000000"]
    assert run(["bounds", "shuffle-rdp", *words, "--set", "delta=1e-8"]) == 0
    rows = [r for r in capsys.readouterr().out.splitlines() if not r.startswith("#")]
    (row,) = csv.DictReader(rows)
    assert float(row["x"]) == 1e5
    assert float(row["theorem1"]) == pytest.approx(1.0402185, abs=1e-6)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["heatmap", "no-such-file.txt"], 1, "no-such-file.txt"),
        (["heatmap", "sample", "--region", "10,0,5,1"], 2, "grow northwards"),
        (["heatmap", "sample", "--region", "0,0,1"], 2, "LATMIN,LONMIN,LATMAX,LONMAX"),
        (["heatmap", "sample", "--region", "New York"], 2, "'New York' is not a number of degrees"),
        (["heatmap", "sample", "--region", "40,-74,41,west"], 2, "'west' is not a number of deg"),
        (["heatmap", "sample", "--region", ""], 2, "such as 40.5,-74.3,41.0,-73.6"),
        (["window", "--region", "here"], 2, "'here' is not a number of degrees"),
        (["heatmap", "sample", "--region", "0,-100,1,100"], 2, "too wide"),
        (["heatmap", "sample", "--epsilon", "0"], 2, "epsilon: choose a value"),
        (["heatmap", "sample", "--mechanism", "magic"], 2, "pyramid, capped, least-squares"),
        (["heatmap", "sample", "--output", "map.bmp"], 2, "chooses the format"),
        (["heatmap", "sample", "--output", "/no/such/folder/map.png"], 2, "does not exist"),
        (["heatmap", "sample", "--columns", "colour=1"], 2, "columns can hold"),
        (["bounds", "no-such-study"], 1, "shuffle-rdp"),
        (["bounds", "heatmap"], 1, "draws a map"),
        (["bounds", "shuffle-rdp", "--set", "eps0=-1"], 1, "eps0: choose a value"),
        (["bounds", "shuffle-rdp", "--set", "eps0"], 2, "KEY=VALUE"),
        (["bounds", "shuffle-rdp", "--sweep", "T=1:2"], 2, "KEY=A:B:N"),
        (["bounds", "shuffle-rdp", "--sweep", "zz=1:2:3"], 1, "not a parameter"),
        (["bounds", "shuffle-rdp", "--sweep", "T=0:10:3"], 1, "leaves"),
        (["bounds", "shuffle-rdp", "--json"], 2, "--output FILE.json"),
        (["bounds", "choose-alpha", "--set", "space=points"], 1, "open a CSV file"),
        (["bounds"], 2, "bounds --help"),
        (["window", "--size", "huge"], 2, "--size: 'huge' is not WIDTHxHEIGHT"),
        (["bounds", "choose-alpha", "--size", "8x6mm"], 2, "'8x6mm' at 150 dpi is outside"),
        (["dance"], 2, "No such command"),
    ],
)
def test_errors_are_one_clear_sentence(
    words: list[str], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == code
    said = capsys.readouterr()
    assert says in said.err
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("privacy-explorer: ")
    assert said.out == ""


@pytest.mark.full
def test_standard_output_may_be_a_text_stream() -> None:
    """A host that embeds Python replaces it by a stream without ``buffer``."""
    for words, first in ((["--reviewer", "text"], "Study: "), ([], "# ")):
        with redirect_stdout(io.StringIO()) as output:
            assert run(["bounds", "unbounded", *words]) == 0
        assert output.getvalue().startswith(first), words


@pytest.mark.full
def test_as_a_program(tmp_path: Path) -> None:
    """The installed module as a process: output on stdout only, exit code from the command."""
    done = subprocess.run(
        [sys.executable, "-m", "explorer", "bounds", "unbounded", "--sweep", "r=0.01:0.1:2"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1].startswith("0.1,")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_the_papers_filter_shows_its_counts_beside_ours(
    real_checkins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """January 2010 of the New York part: 8,166 rows of 722 users (counted independently)."""
    file = real_checkins / "gowalla-new-york.txt.gz"
    assert run(["heatmap", str(file), "--preset", "gowalla", "--json", *SMALL]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["paper"]["check-ins"] == {"here": 8_166, "paper": 196_071}
    assert printed["paper"]["users"] == {"here": 722, "paper": 10_196}
    assert printed["rows"]["set_aside"] == {"duplicate": 6}
    assert run(["fetch", "elsewhere"]) == 1
    assert "gowalla, brightkite" in capsys.readouterr().err


PRIVATE = ["--panes", "private", "--resolution", "32", "--seed", "7351928", "--quiet"]


@pytest.fixture
def canary_file(tmp_path: Path) -> Path:
    """41 users, 3 of them inside the region, 37 bad rows; edges, times, names nobody else has."""
    path = tmp_path / "canary.txt"
    lines = ["canary user\ttime\tlat\tlon\tplace"]
    lines += [
        f"{u}\t2010-01-{1 + u % 28:02d}T07:35:{u:02d}Z\t{-34.073519 + u / 97}\t18.473519\t1"
        for u in range(41)
    ]
    lines += ["5\tyesterday\t-34.02\t18.44\t4"] * 37
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


TYPED_REGION = ["--region", "-34.2,18.3,-34.04,18.6"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("suffix", "region"),
    [
        *(
            pair
            for suffix in ("json", "text", ".png")
            for pair in ((suffix, []), (suffix, TYPED_REGION))
        ),
        *((f".{fmt}", TYPED_REGION) for fmt in CELLS),
        *((f".{fmt}", []) for fmt in ALL_OF_MAPS if fmt != "png"),
    ],
)
def test_a_private_map_tells_nothing_of_the_file(
    canary_file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    suffix: str,
    region: list[str],
) -> None:
    words = ["heatmap", str(canary_file), "--columns", "user=canary user", *region, *PRIVATE]
    words += ["--users", "500"]
    if suffix == "text":
        assert run(words) == 0
        told = capsys.readouterr().out.encode()
    elif suffix == "json":
        assert run([*words, "--json"]) == 0
        told = capsys.readouterr().out.encode()
        printed = json.loads(told)
        assert printed["recipe"]["private_only"] is True
        curators = ("rows", "users", "contributions", "metrics", "timings_ms", "seed")
        assert {printed.pop(key) for key in curators} == {None}
        told = json.dumps(printed).encode()
    elif suffix[1:] in CELLS and not region:
        assert run([*words, "--output", str(tmp_path / f"map{suffix}")]) == 1
        told = capsys.readouterr().err.encode()
        assert b"GeoJSON" in told or b"GeoTIFF" in told
    else:
        out = tmp_path / f"map{suffix}"
        if suffix[1:] in ("gif", "apng", "mp4"):
            words += ["--frames", "2"]
        assert run([*words, "--size", "400x300", "--dpi", "50", "--output", str(out)]) == 0
        told = everything_in(out.read_bytes(), suffix.lstrip("."))
        settings = read_recipe(out)
        assert settings["private_only"] is True
        assert ("region" in settings["selection"]) == bool(region)
    fingerprint = hashlib.sha256(canary_file.read_bytes()).hexdigest()
    canaries = [
        "canary",
        fingerprint,
        fingerprint[:12],
        "735192",
        "473519",
        "2010-01",
        "similarity",
        "What users contribute",
        "users with so many check-ins",
    ]
    canaries += (
        ["78 rows", "41 users", "of 41", "only 3", "37 "] if suffix in ("json", "text") else []
    )
    told = told.replace(b"show_contributions", b"")  # a setting of the view
    for canary in canaries:
        assert canary.encode() not in told
    if suffix in ("json", "text"):
        assert "500 users" in told.decode() or suffix == "text"
        mark = "○ The region was chosen" if region else "✗ The region was chosen"
        assert suffix == "json" or mark in told.decode()


@pytest.mark.full
def test_maps_stand_beside_the_private_one(
    tiny_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["heatmap", str(tiny_file), "--resolution", "16", "--quiet"]
    for beside, panes, wanted in (
        (
            "true,least-squares,difference,error",
            "both",
            ["true", "private", "private:least-squares", "difference", "error"],
        ),
        ("true,least-squares,difference,error", "private", ["private", "private:least-squares"]),
        ("least-squares", "both", ["private", "private:least-squares"]),
        ("true,laplace", "true", ["true"]),
    ):
        out = tmp_path / "map.csv"
        more = ["--beside", beside, "--panes", panes, "--output", str(out)]
        assert run([*words, *more]) == 0
        lines = out.read_text(encoding="utf-8").splitlines()
        head = next(line for line in lines if line.startswith("row,")).split(",")
        assert [name for name in head[2:] if name not in ("lat", "lon")] == wanted
        assert read_recipe(out)["values"]["beside"] == beside
    capsys.readouterr()
    out = tmp_path / "centres.csv"
    more = ["--beside", "true,centres", "--centres", "3", "--panes", "centres"]
    assert run([*words, "--region=-34.2,18.3,-33.9,18.6", *more, "--output", str(out)]) == 0
    lines = [row for row in out.read_text(encoding="utf-8").splitlines() if row[:1] != "#"]
    assert lines[0].split(",") == ["map", "number", "lat", "lon", "share"]
    assert len(lines) == 4
    assert read_recipe(out)["private_only"]
    assert "centre 3: " in capsys.readouterr().out
    assert run([*words, *more[2:]]) == 2
    assert "--beside centres" in capsys.readouterr().err
    assert run([*words, "--beside", "true,nonsense"]) == 2
    snapshots.check(capsys.readouterr().err)
    assert run([*words, "--beside", "laplace", "--panes", "true"]) == 2
    assert "--beside true" in capsys.readouterr().err


@pytest.mark.full
def test_the_curator_is_told_what_a_sample_costs(
    tiny_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["heatmap", str(tiny_file), "--resolution", "32", "--quiet"]
    assert run([*words, "--users", "3"]) == 0
    said = capsys.readouterr().out
    snapshots.check(said)
    assert "3 used of 6" in said
    assert "2-DP (2ε)" in said
    assert "✗ The region" in said
    assert run([*words, "--share", "0.5", "--data-seed", "2", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["recipe"]["selection"]["share"] == 0.5
    assert printed["recipe"]["selection"]["region_from"] == "extent"
    assert printed["guarantee"]["add_remove"].startswith("1-DP")
    (region,) = (c for c in printed["conditions"] if c["text"].startswith("The region"))
    assert region["holds"] is False
    assert run([*words, "--share", "0.5", "--users", "3"]) == 2
    snapshots.check(capsys.readouterr().err)
    assert run([*words, "--preset", "gowalla", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    chosen = printed["recipe"]["selection"]
    assert (chosen["region_from"], chosen["time_from"]) == ("public", "public")


def test_what_users_contribute_is_told_to_the_curator(
    tiny_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["heatmap", str(tiny_file), "--resolution", "32", "--quiet"]
    table, chosen = tmp_path / "map.csv", ["--weights", "cells", "--cap", "1"]
    assert run([*words, "--json", *chosen, "--output", str(table)]) == 0
    printed = json.loads(capsys.readouterr().out)
    rows = printed["contributions"]["rows"]
    (count,) = (key for key in rows[0] if key.endswith("check-ins"))
    assert sum(row[count] for row in rows) == printed["users"]["used"]
    assert printed["metrics"]["weights_sentence"].startswith("Each visited cell once, at most 1 ch")
    values = printed["recipe"]["values"]
    assert (values["weights"], values["cap"], values["one_cell"]) == ("cells", 1, False)
    assert read_recipe(table)["values"]["cap"] == 1
    lines = table.read_text(encoding="utf-8").splitlines()
    at = lines.index("# table contributions: What users contribute")
    assert lines[at + 1].startswith("# from,to,users with so many check-ins,")
    assert len(lines[at + 2].split(",")) == 4
    assert run([*words, "--one-cell", "yes"]) == 0
    said = capsys.readouterr().out
    snapshots.check(said)
    assert "○ Every user" in said
    assert "6 users" in said
    assert run([*words, "--cap", "0"]) == 2
    assert "cap: choose a value from 1 to 1e+06" in capsys.readouterr().err


def test_an_empty_column_leaves_the_times_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "minutes.csv"
    rows = "".join(f"{i % 5},{i},{-34 - i / 100},{18 + i / 100}\n" for i in range(30))
    path.write_text("user,time,lat,lon\n" + rows)
    asked = ["heatmap", str(path), "--resolution", "32", "--quiet"]
    assert run(asked) == 2
    said = capsys.readouterr().err
    snapshots.check(said)
    assert "“time”" in said
    assert "--columns time=" in said
    assert run([*asked, "--columns", "time="]) == 0
    assert "30 kept of 30" in capsys.readouterr().out
    assert run([*asked, "--columns", "lat="]) == 2
    assert "lat=" in capsys.readouterr().err


def test_the_cache_is_shown_and_cleared(
    tiny_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert run(["cache", "show"]) == 0
    assert "0 kB of 0 files" in capsys.readouterr().out
    assert run(["heatmap", str(tiny_file), *SMALL]) == 0
    capsys.readouterr()
    assert run(["cache", "show"]) == 0
    assert re.search(r"^\d+ kB of 1 file in .*checkins$", capsys.readouterr().out)
    assert run(["cache", "clear"]) == 0
    assert re.search(r"^\d+ kB freed$", capsys.readouterr().out)
    assert run(["cache", "show"]) == 0
    assert "0 kB of 0 files" in capsys.readouterr().out


@pytest.mark.full
def test_a_terminal_shows_how_far_a_computation_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    small = {"simulate": "true", "trials": 4, "n": 50, "m": 2, "space_clusters": 2}
    settings = [f"--set={key}={value}" for key, value in small.items()]
    assert run(["bounds", "frequency", "--sweep", "alpha=1:4:3", *settings]) == 0
    shown = capsys.readouterr().err.split("\r\x1b[K")
    assert shown[1] == "computing …"
    assert any(re.fullmatch(r"computing … \d+%", text) for text in shown), shown
    assert shown[-1] == ""


@pytest.mark.full
def test_heatmap_of_several_files_and_of_their_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both are one data set with the numbers of one file; rejected rows name file and line."""
    rows = [
        f"{user},2010-01-{day:02d}T12:00:00Z,{-34.0 - user / 100},{18.4 + day / 100}"
        for day in range(1, 6)
        for user in range(6)
    ]
    header, folder = "user,time,lat,lon", tmp_path / "x[1]"
    folder.mkdir()
    whole = tmp_path / "whole.csv"
    whole.write_text("\n".join([header, *rows, "6,never,-34,18.5"]) + "\n")
    parts = [folder / "a'1.csv", folder / "b*.csv"]
    parts[0].write_text("\n".join([header, *rows[:14]]) + "\n")
    parts[1].write_text("\n".join([header, *rows[14:], "6,never,-34,18.5"]) + "\n")
    aside = tmp_path / "aside.csv"
    found = []
    for asked in ([whole], [folder], parts[::-1]):
        code = run(
            [
                "heatmap",
                *map(str, asked),
                "--region",
                "-34.2,18.3,-33.9,18.6",
                "--json",
                "--set-aside",
                str(aside),
                "--no-cache",
                *SMALL,
            ]
        )
        assert code == 0
        printed = json.loads(capsys.readouterr().out)
        found.append([printed[key] for key in ("metrics", "users", "rows")])
    assert found[0] == found[1] == found[2]
    with aside.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["part"], row["line"]) == ("b*.csv", "18")


@pytest.mark.full
def test_heatmap_of_more_rows_than_memory_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sorted on the disk first, which is said; then the map is the one of rows in memory."""
    from tests.engine.test_large_import import made_folder

    folder = made_folder(tmp_path / "rows", rows=600)
    asked = [
        "heatmap",
        str(folder),
        "--region",
        "40,-74.5,41,-73",
        "--json",
        "--resolution",
        "32",
        "--seed",
        "3",
        "--memory",
        "900MB",
        "--no-cache",
    ]
    found = []
    for most in (30_000_000, 100):
        monkeypatch.setattr("explorer.engine.large_import.max_rows_in_memory", lambda _, n=most: n)
        assert run(asked) == 0
        printed = capsys.readouterr()
        said = "opened at once" in printed.err
        assert said == (most == 100)
        summary = json.loads(printed.out)
        found.append([summary[key] for key in ("rows", "users", "metrics")])
    assert found[0][:2] == found[1][:2]
    for name, value in found[0][2].items():
        assert found[1][2][name] == (
            value if isinstance(value, str) or value is None else pytest.approx(value, rel=1e-6)
        ), name


def test_memory_is_a_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["heatmap", "sample", "--memory", "2"]) == 2
    assert "such as 2GB" in capsys.readouterr().err


@pytest.mark.full
def test_parts_around_a_picture_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "bare.png"
    argv = ["bounds", "unbounded", "--without=title", "--without=legend", "--output", str(path)]
    assert run(argv) == 0
    assert read_recipe(path)["view"]["left_out"] == ["title", "legend"]


def test_a_part_that_is_none_is_refused_with_those_there_are(tmp_path: Path, capsys) -> None:
    path = tmp_path / "bare.png"
    argv = ["bounds", "amplification", "--without", "titel", "--output", str(path)]
    assert run(argv) != 0
    error = capsys.readouterr().err
    for part in ("'titel'", "'title'", "'legend'"):
        assert part in error
    assert not path.exists()


@pytest.mark.parametrize(
    ("size", "pixels"),
    [("1280x800", (1280, 800)), ("column", (2079, 1465)), ("180x110mm", (4252, 2598))],
)
def test_sizes_in_pixels_in_millimetres_and_by_name(size: str, pixels: tuple[int, int]) -> None:
    assert parse_size(size, 600) == pixels
    if not size[0].isdigit() or size.endswith("mm"):
        with pytest.raises(click.BadParameter):
            parse_size(size)
