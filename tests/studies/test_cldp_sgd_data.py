"""Examples to train on: digits that ship, MNIST's files, tables, and what is wrong with them."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from explorer.cli import run
from explorer.studies.base.csv_table import TableFileError
from explorer.studies.base.study import Sweep, default_request
from explorer.studies.cldp_sgd import data
from explorer.studies.cldp_sgd.data import clients_of, digits, mnist, read_idx, table
from explorer.studies.registry import get_study
from tests.studies.context import Context
from tests.studies.walking import final_result

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
TEST_IMAGES, TEST_LABELS = "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"


def idx(array):
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return header + array.astype(np.uint8).tobytes()


def write_folder(folder, n=120, side=6):
    """Make pictures of ten digits: one bright row or column each, and noise."""
    rng = np.random.default_rng(0)
    for images, labels, count in ((IMAGES, LABELS, n), (TEST_IMAGES, TEST_LABELS, 40)):
        y = rng.integers(10, size=count)
        x = rng.integers(60, size=(count, side, side))
        for i, digit in enumerate(y):
            x[i].reshape(-1)[3 * digit : 3 * digit + 3] = 255
        (folder / images).write_bytes(idx(x))
        (folder / f"{labels}.gz").write_bytes(gzip.compress(idx(y)))
    return folder


def test_digits_are_split_by_their_seed():
    one, again, other = digits(0), digits(0), digits(1)
    assert one is again
    assert one.x.shape == (1437, 64)
    assert one.x_test.shape == (360, 64)
    assert one.x_test.max() == 1.0
    assert one.x.max() * one.unit == 1.0
    assert set(one.y) == set(range(10))
    assert not np.array_equal(one.y, other.y)
    # Together they are the same pictures, whatever the split.
    for images in (one, other):
        together = np.concatenate([images.x, images.x_test * 16])
        assert together.sum() == 561_718


def test_the_digits_are_those_of_the_collection():
    images = digits(0)
    order = np.random.default_rng([0, 0]).permutation(1797)
    x = np.concatenate([images.x_test * 16, images.x]).astype(np.uint8)[np.argsort(order)]
    y = np.concatenate([images.y_test, images.y]).astype(np.uint8)[np.argsort(order)]
    assert hashlib.sha256(x.tobytes()).hexdigest().startswith("8f26b2bd9d135c256808f68f14fdabdd")
    assert hashlib.sha256(y.tobytes()).hexdigest().startswith("8ba4f891220f5e4c9c819638d1602d74")
    # The counts that the collection itself gives for its test part.
    assert np.bincount(y).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_clients_share_pictures_evenly():
    images = digits(0)
    few = clients_of(images, 1000, 0)
    assert len(set(few.row)) == few.row.size == 1000
    many = np.bincount(clients_of(images, 5000, 0).row, minlength=1437)
    assert set(many) == {3, 4}
    assert not np.array_equal(clients_of(images, 1000, 1).row, few.row)


def test_mnist_files_plain_and_packed(tmp_path):
    images = mnist(str(write_folder(tmp_path)), "a")
    assert images.x.shape == (120, 36)
    assert images.x_test.shape == (40, 36)
    assert images.x_test.max() == 1.0
    assert images.unit == 1 / 255
    raw = read_idx(tmp_path / IMAGES)
    assert raw.shape == (120, 6, 6)
    np.testing.assert_array_equal(raw.reshape(120, -1), images.x)


def test_the_dotted_names_are_known_too(tmp_path):
    write_folder(tmp_path)
    (tmp_path / IMAGES).rename(tmp_path / "train-images.idx3-ubyte")
    assert mnist(str(tmp_path), "b").x.shape == (120, 36)


def test_missing_files_are_named(tmp_path):
    write_folder(tmp_path)
    (tmp_path / IMAGES).unlink()
    (tmp_path / f"{TEST_LABELS}.gz").unlink()
    with pytest.raises(ValueError, match=f"{IMAGES}, {TEST_LABELS}.*choose the folder"):
        mnist(str(tmp_path), "c")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (IMAGES, b"", "not an idx file.*begins with nothing"),
        (IMAGES, b"\x89PNG....", "not an idx file.*89 50 4e 47"),
        (IMAGES, idx(np.zeros((120, 6, 6)))[:-1], "says it holds 120 × 6 × 6 bytes but has 4,319"),
        (IMAGES, b"\0\0\x08\x03\0\0", "ends within its header"),
        (IMAGES, idx(np.zeros(120)), "doesn't have 3 dimensions"),
        (IMAGES, idx(np.zeros((119, 6, 6))), "119 pictures and .* 120 labels"),
        (IMAGES, idx(np.zeros((120, 5, 6))), "5 × 6"),
        (f"{LABELS}.gz", gzip.compress(idx(np.full(120, 17)), mtime=0), "label 17"),
        (f"{LABELS}.gz", gzip.compress(idx(np.zeros(120)), mtime=0)[:-9], "damaged .gz"),
        (f"{LABELS}.gz", b"nothing packed", "damaged .gz"),
    ],
)
def test_what_is_wrong_is_reported_with_the_file(tmp_path, name, content, said):
    write_folder(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=said) as caught:
        mnist(str(tmp_path), hashlib.sha256(content).hexdigest())
    assert name in str(caught.value)


def ask(host, **values):
    study = get_study("cldp-sgd")
    request = replace(
        default_request(study, data="mnist", n=120, k=60, epochs=30, runs=1, eps0=8.0, **values),
        quantity="accuracy",
        sweep=Sweep("epochs", 1, 30, 30),
    )
    return final_result(study, request, host)


@pytest.mark.full
def test_the_study_trains_on_the_users_files(tmp_path):
    write_folder(tmp_path)
    host, value = Context(), f"{tmp_path.name}#{'0' * 64}"
    host.files[value] = tmp_path
    final = ask(host, folder=value)
    assert final.complete
    assert final.readout("plain").value > 0.9
    assert final.readout("accuracy").value > 0.3
    assert any("120 training pictures" in c.margin for c in final.conditions)


def test_without_a_folder_the_study_asks_for_one():
    host = Context()
    final = ask(host)
    assert not host.heavy_calls
    assert "choose the folder" in " ".join(final.notes)
    assert all("choose the folder" in s.undefined_reason for s in final.series)
    assert final.readout("eps_theorem").value > 0
    with pytest.raises(LookupError):
        ask(host, folder=f"moved#{'1' * 64}")


@pytest.mark.full
def test_the_command_line_trains_on_a_folder_or_says_what_is_wrong(tmp_path, capsys):
    folder = tmp_path / "pictures"
    folder.mkdir()
    write_folder(folder)
    settings = ("data=mnist", f"folder={folder}", "n=120", "k=60", "epochs=2", "runs=1")
    words = ["bounds", "cldp-sgd", "--quantity", "accuracy", "--sweep", "epochs=1:2:2"]
    words += [word for setting in settings for word in ("--set", setting)]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "simulation, not a release" in said
    assert str(tmp_path) not in said
    rows = [line.split(",") for line in said.splitlines() if line[:1].isdigit()]
    assert [row[0] for row in rows] == ["1", "2"]
    assert all(0 <= float(row[1]) <= 1 for row in rows)
    (folder / IMAGES).write_bytes(b"nothing")
    assert run(words) != 0
    assert f"{IMAGES} is not an idx file" in capsys.readouterr().err


PEOPLE = """age [0:100];town;height;group
50;Oslo;1,5;10
120;Rome;2,0;9
25;Oslo;1,0;10
0;Bonn;1,0;9
"""


def read(path, text, *, label=0, held_out=0.25, seed=0, decimal="auto"):
    path.write_text(text, encoding="utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return table(str(path), f"{path.name}#{digest}", label, decimal, held_out, seed)


def test_a_table_is_scaled_coded_and_split(tmp_path):
    got = read(tmp_path / "people.csv", PEOPLE)
    order = np.random.default_rng([0, 0]).permutation(4)
    assert (got.x.shape, got.x_test.shape, got.unit) == ((3, 5), (1, 5), 1.0)
    x = np.empty((4, 5))
    x[order] = np.concatenate([got.x_test, got.x])
    # Age by its public bounds, 120 beyond them; towns Bonn, Oslo, Rome a feature each.
    assert x[:, 0].tolist() == [0.0, 1.0, -0.5, -1.0]
    assert x[:, 2:].tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    heights = np.array([1.5, 2.0, 1.0, 1.0])
    low, high = heights[order[1:]].min(), heights[order[1:]].max()
    np.testing.assert_allclose(x[:, 1], np.clip((heights - low) / (high - low) * 2 - 1, -1, 1))
    # Classes that are numbers stand in their order: 9 before 10.
    y = np.empty(4, int)
    y[order] = [*got.y_test, *got.y]
    assert got.table.classes == ("9", "10")
    assert y.tolist() == [1, 0, 1, 0]
    assert (got.classes, got.table.rows, got.table.held_out) == (2, 3, 1)
    uses = [(c.name, c.use, c.features, c.public, c.clipped > 0) for c in got.table.columns[:2]]
    assert uses == [("age", "numbers", 1, True, True), ("town", "words", 3, False, False)]


def test_the_split_follows_its_seed_and_share(tmp_path):
    text = "a,b,label\n" + "".join(f"{i},{i % 7},{'xy'[i % 2]}\n" for i in range(40))
    one, other = (read(tmp_path / "t.csv", text, seed=seed) for seed in (0, 1))
    assert not np.array_equal(one.y, other.y)
    sizes = [len(read(tmp_path / "t.csv", text, held_out=h).y_test) for h in (0.05, 0.51, 0.9)]
    assert sizes == [2, 21, 36]
    assert read(tmp_path / "t.csv", text, label=2).table.classes == tuple("0123456")


@pytest.mark.parametrize(
    ("text", "label", "words"),
    [
        ("a,b\n1,x\n2,y\n", 3, ("2 columns", "number 3", "0 for the last")),
        ("a,b\n1,x\n2,x\n", 0, ("'b'", "'x'", "two classes")),
        ("a,b\n1,\n2,\n", 0, ("line 2, b", "empty", "remove the column")),
        ("a [9:1],b\n1,x\n2,y\n", 0, ("line 1", "a [9:1]", "smaller first")),
        ("a,b\n" + "".join(f"1,{i}\n" for i in range(101)), 0, ("'b'", "101", "label's column")),
        ("a,b\n" + "".join(f"w{i},{i % 2}\n" for i in range(51)), 0, ("'a'", "51", "group")),
        ("a,b\n1,x\n2,y\n" + "nan,x\n" * 9, 0, ("line 4, a", "'nan'", "remove columns")),
        ("one column\n1\n2\n", 0, ("line 1", "one column only")),
    ],
)
def test_what_is_wrong_with_a_table_is_named(tmp_path, text, label, words):
    with pytest.raises(TableFileError) as caught:
        read(tmp_path / "own.csv", text, label=label)
    assert all(word in str(caught.value) for word in ("own.csv", *words))


def test_a_table_too_large_is_refused_before_it_takes_memory(tmp_path, monkeypatch):
    lines = "a,b\n" + "1,2\n" * 10
    monkeypatch.setattr(data, "MAX_FIELDS", 15)
    with pytest.raises(TableFileError, match=r"line 8.*more than 15 fields; keep fewer rows"):
        read(tmp_path / "long.csv", lines)
    with pytest.raises(TableFileError, match=r"wide.csv: .*more than 15 fields"):
        read(tmp_path / "wide.csv", "," * 5_000_000)
    monkeypatch.setattr(data, "MAX_FIELDS", 10**6)
    monkeypatch.setattr(data, "MAX_PARAMETERS", 3)
    with pytest.raises(TableFileError, match=r"at most .* 3 parameters"):
        read(tmp_path / "many.csv", "a,b\n1,x\n2,y\n")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(*[st.sampled_from(["1", "2.5", "-3e4", "0", "", "x", "nan", "1_0"])] * 2),
        min_size=2,
        max_size=12,
    )
)
def test_every_row_of_a_table_is_used_or_rejected_by_line(tmp_path_factory, rows):
    text = "a,b,label\n" + "".join(f"{a},{b},{'pq'[i % 2]}\n" for i, (a, b) in enumerate(rows))
    path = tmp_path_factory.mktemp("t") / "t.csv"
    with contextlib.suppress(TableFileError):
        got = read(path, text)
        used = len(got.y) + len(got.y_test)
        rejected = got.table.summary.count("line ")
        assert used + rejected == len(rows) or "more)" in got.table.summary
        assert np.abs(got.x).max() <= 1
        assert np.abs(got.x_test).max() <= 1


def test_the_study_trains_on_a_table_and_marks_what_it_measures(tmp_path):
    rng = np.random.default_rng(3)
    rows = [(rng.normal(label), rng.normal(), ["no", "yes"][label]) for label in [0, 1] * 60]
    path = tmp_path / "own.csv"
    path.write_text("a,b,ill\n" + "".join(f"{a:.3f},{b:.3f},{c}\n" for a, b, c in rows))
    host = Context()
    value = host.add_file(path)
    study = get_study("cldp-sgd")
    request = default_request(
        study, data="table", table=value, n=96, k=48, epochs=4, runs=2, eps0=8.0
    )
    request = replace(request, quantity="accuracy", sweep=Sweep("epochs", 1, 4, 4))
    final = final_result(study, request, host)
    assert final.complete
    assert final.curator_only
    assert final.readout("plain").value > 0.6
    secret = {r.key for r in final.readouts if r.curator_only}
    assert secret == {"accuracy", "plain"}
    assert [row[0] for row in final.tables[1].rows] == ["a", "b", "ill"]
    own = next(c for c in final.conditions if c.holds is True and "own" in c.text)
    assert "96 training rows" in own.margin
