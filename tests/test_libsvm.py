import bz2
import gzip
import lzma
import os
import re
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO, StringIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from unlabeled.datasets import cache, download, folders, load_libsvm, progress, sources, text
from unlabeled.datasets.checksums import sha256
from unlabeled.datasets.sources import Source
from unlabeled.files import written_whole

HEART = b"""+1 1:0.7 2:1 4:-0.3 13:-1
-1 1:0.5 2:-1 3:0.3 4:-0.6
-1 2:1 5:2
+1 3:0 4:1 5:2 13:5
"""
HEART_INDEXED = np.zeros((4, 13))
HEART_INDEXED[0, [0, 1, 3, 12]] = 0.7, 1, -0.3, -1
HEART_INDEXED[1, [0, 1, 2, 3]] = 0.5, -1, 0.3, -0.6
HEART_INDEXED[2, [1, 4]] = 1, 2
HEART_INDEXED[3, [3, 4, 12]] = 1, 2, 5
HEART_PAPER = np.array([[0.7, 1, -0.3, -1], [0.5, -1, 0.3, -0.6], [0, 1, 2, 5]])
COMPRESS = {"": bytes, ".xz": lzma.compress, ".bz2": bz2.compress, ".gz": gzip.compress}


@pytest.fixture(autouse=True)
def platform_cache(tmp_path, monkeypatch):
    """Keep away from the folders of whoever runs the tests."""
    folder = tmp_path / "platform"
    monkeypatch.setattr(folders, "platform_cache", lambda: folder)
    monkeypatch.delenv(folders.DATA_HOME_VARIABLE, raising=False)
    return folder


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def entries(folder):
    return sorted(path.name for path in (folder / "cache").iterdir())


# Reading


@pytest.mark.parametrize("ending", COMPRESS)
def test_layouts_and_endings(home, ending):
    (home / f"heart_scale{ending}").write_bytes(COMPRESS[ending](HEART))
    for _ in range(2):  # parsed, then from the cache
        indexed = load_libsvm("heart_scale", data_home=home, download=False)
        np.testing.assert_array_equal(indexed.data, HEART_INDEXED)
        np.testing.assert_array_equal(indexed.target, [1, 0, 0, 1])
        paper = load_libsvm("heart_scale", "paper", home, download=False)
        # The zero that is written out counts as stored.
        np.testing.assert_array_equal(paper.data, HEART_PAPER)
        np.testing.assert_array_equal(paper.target, [1, 0, 1])
    assert indexed.data.dtype == np.float64
    assert indexed.files == [str(home / f"heart_scale{ending}")]
    assert (indexed.note, indexed.layout, paper.layout) == ("", "indexed", "paper")
    assert "4 rows, 13 columns; 2 with target 1 (heart disease present), 2 with target 0" in indexed.DESCR
    assert len(entries(home)) == 2


@pytest.mark.parametrize(
    ("name", "labels", "target"),
    [
        ("breast-cancer_scale", "2 4", [0, 1]),
        ("breast-cancer_scale", "-1 1", [0, 1]),
        ("skin_nonskin", "1 2", [0, 1]),
        ("HIGGS", "0.000e+00 1.000e+00", [0, 1]),
        ("HIGGS", "-1 +1", [0, 1]),
        ("sonar_scale", "-1 1", [0, 1]),
    ],
)
def test_label_spellings(home, name, labels, target):
    (home / name).write_text("".join(f"{label} 1:1 2:2\n" for label in labels.split()))
    assert load_libsvm(name, data_home=home, download=False).target.tolist() == target


def test_all_parts_of_a_set_are_read_in_order(home):
    (home / "epsilon_normalized.bz2").write_bytes(bz2.compress(b"1 1:1 2:2\n"))
    (home / "epsilon_normalized.t").write_bytes(b"-1 1:3 2:4\n1 1:5\n")
    # Extracts do not matter where the whole data set is there.
    (home / "epsilon_normalized_100.xz").write_bytes(lzma.compress(b"1 1:9\n"))
    loaded = load_libsvm("epsilon_normalized", "paper", home, download=False)
    np.testing.assert_array_equal(loaded.data, np.array([[1, 2], [3, 4]], dtype=np.float32))
    assert loaded.data.dtype == np.float32
    assert loaded.note == ""


def test_extracts_serve_each_row_once_and_say_so(home):
    # The second file has a row of the first, printed with fewer digits, and one of its own twice. The last row of the
    # first differs from its first in the label alone.
    values = b"1:8.692932128906250000e-01 3:-8.191101951524615288e-04\n"
    first = b"1 " + values + b"0 1:0.5\n" + b"0 " + values
    second = b"1 1:0.869293213 3:-0.000819110\n1 2:7 3:1\n1 2:7 3:1\n1 1:0.8693\n"
    (home / "higgs_first3.xz").write_bytes(lzma.compress(first))
    (home / "higgs_extra4.xz").write_bytes(lzma.compress(second))
    loaded = load_libsvm("HIGGS", data_home=home)
    assert loaded.data.shape == (5, 28)
    assert loaded.target.tolist() == [1, 0, 0, 1, 1]
    assert "5 rows are from extracts of it (higgs_first3.xz, higgs_extra4.xz), each row once" in loaded.note
    assert sources.COLLECTION + "HIGGS.xz" in loaded.note
    assert loaded.note in loaded.DESCR
    assert load_libsvm("HIGGS", "paper", home).data.shape == (3, 2)


def random_rows(n_rows, n_features, seed=0):
    rng = np.random.RandomState(seed)
    X = np.round(rng.normal(size=(n_rows, n_features)), 3) * rng.randint(2, size=(n_rows, n_features))
    buffer = BytesIO()
    dump_svmlight_file(X, rng.choice([-1, 1], size=n_rows), buffer, zero_based=False)
    return buffer.getvalue()


@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 1000), st.integers(1, 300), st.booleans(), st.booleans())
@settings(deadline=None)
def test_any_block_size_reads_what_scikit_learn_reads(n_rows, n_features, seed, size, windows, unfinished):
    written = random_rows(n_rows, n_features, seed).replace(b"\n", b"\r\n" if windows else b"\n")
    written = written.rstrip() if unfinished else written
    source = Source("toy", n_features, ("no", "yes"))
    blocks = list(text.whole_lines(BytesIO(written), size))
    assert b"".join(blocks) == written
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    stored = [text._parse(block, source) for block in blocks]
    X, y = load_svmlight_file(BytesIO(written), n_features=n_features, zero_based=False)
    read = list(text.by_index(stored))
    np.testing.assert_array_equal(np.concatenate([block.data for block in read]), X.toarray())
    np.testing.assert_array_equal(np.concatenate([block.target for block in read]), y > 0)
    counts = np.diff(X.indptr)
    kept = counts == counts[0]
    cut = list(text.by_position(stored))
    np.testing.assert_array_equal(
        np.concatenate([block.data for block in cut]), X[kept].data.reshape(kept.sum(), counts[0])
    )
    np.testing.assert_array_equal(np.concatenate([block.target for block in cut]), y[kept] > 0)


@pytest.mark.parametrize(
    ("ending", "contents", "message"),
    [
        ("", b"<!DOCTYPE html>\n", "could not convert"),
        ("", b"", "it has no rows"),
        ("", b"\n\n", "it has no rows"),
        ("", b"7 1:2\n", r"it has label 7, where \[-1, 0, 1\] are known"),
        ("", b"1 14:2\n", "n_features"),
        ("", b"1 0:2\n", "(?i)index"),
        (".xz", lzma.compress(HEART)[:-8], "ended before"),
        (".bz2", bz2.compress(HEART)[:-8], "ended before"),
        (".gz", gzip.compress(HEART, mtime=0)[:-12], "ended before"),
        (".xz", HEART, "format"),
        (".bz2", HEART, "(?i)invalid data"),
        (".gz", HEART, "Not a gzipped"),
        (".gz", gzip.compress(HEART, mtime=0)[:20] + b"\0\0\0\0", "(?i)invalid|ended before"),
    ],
)
def test_damaged_files_are_named(home, ending, contents, message):
    path = home / f"heart_scale{ending}"
    path.write_bytes(contents)
    with pytest.raises(ValueError, match=re.escape(str(path))) as error:
        load_libsvm("heart_scale", data_home=home, download=False)
    assert re.search(message, str(error.value))
    assert "put a good copy in its place" in str(error.value)
    assert entries(home) == []


def test_unknown_names():
    with pytest.raises(ValueError, match=r"name='heart' is not known; use one of \['heart_scale'"):
        load_libsvm("heart")
    with pytest.raises(ValueError, match="layout='raw' is not known; use one of"):
        load_libsvm("heart_scale", "raw")


# Where files are


def test_places_in_order(home, tmp_path, monkeypatch, platform_cache):
    named = tmp_path / "named"
    places = [home, named, platform_cache]
    monkeypatch.setenv(folders.DATA_HOME_VARIABLE, str(named))
    assert folders.search_folders(home) == tuple(places)
    for n_rows, folder in reversed(list(enumerate(places, start=1))):
        folder.mkdir(exist_ok=True)
        (folder / "heart_scale").write_bytes(HEART[: HEART.index(b"\n") + 1] * n_rows)
        assert len(load_libsvm("heart_scale", data_home=home, download=False).target) == n_rows


def test_offline_error_names_file_places_and_address(home, platform_cache):
    with pytest.raises(FileNotFoundError) as error:
        load_libsvm("skin_nonskin", data_home=home, download=False)
    message = str(error.value)
    for part in (
        "no skin_nonskin (plain or .xz, .bz2, .gz)",
        f"in {home}, {platform_cache}",
        "download=False",
        f"Get it from {sources.COLLECTION}skin_nonskin and put it in {home}",
        "set UNLABELED_DATA_HOME",
    ):
        assert part in message


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of folders are another matter there")
def test_a_read_only_folder_is_left_as_it_is(home, platform_cache):
    (home / "heart_scale").write_bytes(HEART)
    home.chmod(0o555)
    try:
        for _ in range(2):
            loaded = load_libsvm("heart_scale", data_home=home, download=False)
            np.testing.assert_array_equal(loaded.data, HEART_INDEXED)
    finally:
        home.chmod(0o755)
    assert [path.name for path in home.iterdir()] == ["heart_scale"]
    assert len(entries(platform_cache)) == 1
    assert len(list((platform_cache / "checksums").iterdir())) == 1


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "{}/unlabeled"),
        ("linux", None, "~/.cache/unlabeled"),
        ("darwin", None, "~/Library/Caches/unlabeled"),
        ("win32", "LOCALAPPDATA", "{}/unlabeled"),
        ("win32", None, "~/AppData/Local/unlabeled"),
    ],
)
def test_platform_cache(monkeypatch, tmp_path, platform, variable, expected):
    monkeypatch.undo()  # the fixture replaced what is tested here
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert folders.platform_cache() == folders.Path(expected.format(tmp_path)).expanduser()


# The cache


def test_a_changed_file_is_refused_until_its_record_is_removed(home):
    path = home / "heart_scale"
    path.write_bytes(HEART)
    load_libsvm("heart_scale", data_home=home)
    assert (home / "heart_scale.sha256").read_text() == f"{sha256(path)}  heart_scale\n"
    path.write_bytes(HEART + b"+1 1:1\n")
    with pytest.raises(OSError, match="heart_scale has changed: its SHA-256 is") as error:
        load_libsvm("heart_scale", data_home=home)
    assert f"remove {home / 'heart_scale.sha256'}" in str(error.value)
    (home / "heart_scale.sha256").unlink()
    before = entries(home)
    assert len(load_libsvm("heart_scale", data_home=home).target) == 5
    # The entry of the old contents is gone.
    assert len(entries(home)) == 1
    assert entries(home) != before


def test_the_cache_is_used_and_is_a_memory_map_when_large(home, monkeypatch):
    (home / "heart_scale").write_bytes(HEART)
    load_libsvm("heart_scale", data_home=home)
    monkeypatch.setattr(text, "_parse", None)  # nothing may be parsed again
    assert type(load_libsvm("heart_scale", data_home=home).data) is np.ndarray
    monkeypatch.setattr(cache, "MAPPED_FROM", 1)
    mapped = load_libsvm("heart_scale", data_home=home).data
    assert isinstance(mapped, np.memmap)
    np.testing.assert_array_equal(mapped, HEART_INDEXED)


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY", None])
def test_a_damaged_entry_is_made_again(home, damage, monkeypatch):
    monkeypatch.setattr(cache, "MAPPED_FROM", 1)
    (home / "heart_scale").write_bytes(HEART)
    load_libsvm("heart_scale", data_home=home)
    (path,) = (home / "cache").glob("*/data.npy")
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    for _ in range(2):
        np.testing.assert_array_equal(load_libsvm("heart_scale", data_home=home).data, HEART_INDEXED)
    assert path.stat().st_size > 100


def test_an_entry_that_cannot_be_read_now_is_kept(home, monkeypatch):
    (home / "heart_scale").write_bytes(HEART)
    load_libsvm("heart_scale", data_home=home)
    kept = entries(home)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(cache, "_open", refuse)
        np.testing.assert_array_equal(load_libsvm("heart_scale", data_home=home).data, HEART_INDEXED)
    assert entries(home) == kept


def test_no_cache_is_no_reason_to_fail(home, platform_cache):
    (home / "heart_scale").write_bytes(HEART)
    platform_cache.mkdir()
    for folder in (home, platform_cache):  # files where the folders should be
        (folder / "cache").write_bytes(b"")
        (folder / "checksums").write_bytes(b"")
    loaded = load_libsvm("heart_scale", data_home=home)
    np.testing.assert_array_equal(loaded.data, HEART_INDEXED)


def test_a_full_disk_is_no_reason_to_fail(home, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    (home / "heart_scale").write_bytes(HEART)
    monkeypatch.setattr(cache, "_write_header", full)
    loaded = load_libsvm("heart_scale", data_home=home)
    np.testing.assert_array_equal(loaded.data, HEART_INDEXED)
    assert entries(home) == []


@pytest.mark.slow
def test_processes_that_load_at_once_agree(home):
    (home / "sonar_scale").write_bytes(random_rows(3000, 60))
    code = "from unlabeled.datasets import load_libsvm; print(load_libsvm('sonar_scale').data.sum())"
    environment = os.environ | {folders.DATA_HOME_VARIABLE: str(home), "XDG_CACHE_HOME": str(home / "xdg")}
    processes = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = {process.communicate(timeout=600)[0] for process in processes}
    assert len(answers) == 1
    assert float(answers.pop())
    assert len(entries(home)) == 1


def test_what_killed_processes_left_is_removed(tmp_path):
    old, new = (tmp_path / f".name.00000000-1-{number}.part" for number in ("0000000a", "0000000b"))  # elsewhere
    for folder in (old, new):
        folder.mkdir()
        (folder / "data").write_bytes(b"half")
    for path in (old / "data", old):
        os.utime(path, (time.time() - 1e5,) * 2)
    with written_whole(tmp_path / "name") as partial:
        partial.write_bytes(b"whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [new.name, "name"]


@pytest.mark.parametrize("layout", text.LAYOUTS)
def test_a_large_file_is_read_in_bounded_memory(home, monkeypatch, layout):
    # As HIGGS is: 28 columns, 18 digits. 7 MB of text, 1.1 MB of float32.
    line = b"1 " + b" ".join(b"%d:%.18e" % (column, 1 / column) for column in range(1, 29)) + b"\n"
    n_rows = 10_000
    (home / "HIGGS").write_bytes(line * n_rows)
    monkeypatch.setattr(cache, "MAPPED_FROM", 1)
    monkeypatch.setattr(text, "BLOCK_SIZE", 1 << 16)
    tracemalloc.start()
    try:
        loaded = load_libsvm("HIGGS", layout, home)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert loaded.data.shape == (n_rows, 28)
    # Some blocks, and the targets (0.1 MB); neither the text nor all the rows.
    assert peak < 0.7e6


# Downloads


class Server(ThreadingHTTPServer):
    """Sends ``files``, and of each at most ``cut_after`` bytes, whatever length it has announced."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.cut_after, self.asked = {}, None, []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        contents = self.server.files.get(self.path.lstrip("/"))
        if contents is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(contents)))
        self.end_headers()
        self.wfile.write(contents[: self.server.cut_after])

    def log_message(self, *_):
        """Keep the test output clean."""


@pytest.fixture
def server(monkeypatch):
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(sources, "COLLECTION", f"http://127.0.0.1:{server.server_port}/")
        yield server
        server.shutdown()
        thread.join()


def test_download_is_kept_with_its_hash(server, home):
    server.files["heart_scale"] = HEART
    for _ in range(2):
        np.testing.assert_array_equal(load_libsvm("heart_scale", data_home=home).data, HEART_INDEXED)
    assert server.asked == ["/heart_scale"]
    assert (home / "heart_scale").read_bytes() == HEART
    assert (home / "heart_scale.sha256").read_text().split() == [sha256(home / "heart_scale"), "heart_scale"]
    assert sorted(path.name for path in home.iterdir()) == ["cache", "heart_scale", "heart_scale.sha256"]


def test_every_published_ending_is_tried(server, home):
    server.files["epsilon_normalized.xz"] = lzma.compress(b"1 1:1\n")
    server.files["epsilon_normalized.t.bz2"] = bz2.compress(b"-1 1:2\n")
    loaded = load_libsvm("epsilon_normalized", "paper", home)
    assert loaded.data.tolist() == [[1], [2]]
    assert server.asked == ["/epsilon_normalized.xz", "/epsilon_normalized.t.xz", "/epsilon_normalized.t.bz2"]


def test_only_the_missing_part_is_fetched(server, home):
    (home / "epsilon_normalized").write_bytes(b"1 1:1\n")
    server.files["epsilon_normalized.t.xz"] = lzma.compress(b"-1 1:2\n")
    assert load_libsvm("epsilon_normalized", "paper", home).data.tolist() == [[1], [2]]
    assert server.asked == ["/epsilon_normalized.t.xz"]


@pytest.mark.parametrize(
    ("contents", "cut_after", "message"),
    [
        (HEART, 50, f"the connection ended after 50 of {len(HEART)} bytes"),
        (HEART, 0, f"the connection ended after 0 of {len(HEART)} bytes"),
        (b"<!DOCTYPE html><title>Please log in</title>", None, "does not begin with a row of heart_scale"),
        (b"", None, "its first line is empty"),
        (None, None, "404"),
    ],
)
def test_a_failed_download_leaves_nothing(server, home, contents, cut_after, message):
    server.files["heart_scale"] = contents
    server.cut_after = cut_after
    with pytest.raises(FileNotFoundError, match=message) as error:
        load_libsvm("heart_scale", data_home=home)
    assert f"Get it from {sources.COLLECTION}heart_scale and put it in {home}" in str(error.value)
    assert list(home.iterdir()) == []


def test_an_interrupted_download_leaves_nothing(server, home, monkeypatch):
    @contextmanager
    def interrupted(*_):
        def reach(_):
            raise KeyboardInterrupt

        yield reach

    server.files["heart_scale"] = HEART
    monkeypatch.setattr(download, "progress", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load_libsvm("heart_scale", data_home=home)
    assert list(home.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_download_is_not_taken_for_the_file(server, home):
    server.files["heart_scale"] = HEART
    code = (
        "import os, signal\n"
        "from unlabeled.datasets import download, sources, load_libsvm\n"
        f"sources.COLLECTION = {sources.COLLECTION!r}\n"
        "download.check_beginning = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"  # all bytes are there by then
        f"load_libsvm('heart_scale', data_home={str(home)!r})"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == -9
    (left,) = home.iterdir()
    assert left.name.endswith(".part")
    np.testing.assert_array_equal(load_libsvm("heart_scale", data_home=home).data, HEART_INDEXED)
    assert server.asked == ["/heart_scale"] * 2


def test_a_file_that_changed_on_the_server_is_refused(server, home):
    server.files["heart_scale"] = HEART
    load_libsvm("heart_scale", data_home=home)
    (home / "heart_scale").unlink()
    server.files["heart_scale"] = HEART.replace(b"0.7", b"0.8")
    with pytest.raises(OSError, match="heart_scale has changed: its SHA-256 is") as error:
        load_libsvm("heart_scale", data_home=home)
    assert f"remove {home / 'heart_scale.sha256'}" in str(error.value)
    assert sorted(path.name for path in home.iterdir()) == ["cache", "heart_scale.sha256"]


def test_no_server_at_all(server, home):
    sources.COLLECTION = "http://127.0.0.1:9/"  # the port of the discard service; the fixture puts the address back
    with pytest.raises(FileNotFoundError, match=r"Downloading http://127.0.0.1:9/HIGGS.xz failed: .*refused"):
        load_libsvm("HIGGS", data_home=home)
    assert server.asked == []


def test_nowhere_to_put_it(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(folders, "platform_cache", lambda: tmp_path / "file" / "folder")
    with pytest.raises(FileNotFoundError, match="None of these folders can be written to"):
        load_libsvm("heart_scale")


# Progress


class Terminal(StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("has_rich", [True, False])
def test_progress_is_shown_on_a_terminal(monkeypatch, has_rich):
    if has_rich:
        pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "find_spec", lambda _: has_rich or None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.progress("Downloading HIGGS.xz", 2_800_000_000) as reach:
        reach(700_000_000)
    shown = sys.stderr.getvalue()
    assert "Downloading HIGGS.xz" in shown
    assert ("0.7/2.8 GB" if has_rich else "700 of 2800 MB") in shown


@pytest.mark.parametrize(("stream", "total"), [(StringIO, 2_800_000_000), (Terminal, 1000)])
def test_no_progress_without_terminal_or_for_small_files(monkeypatch, stream, total):
    monkeypatch.setattr(sys, "stderr", stream())
    with progress.progress("Downloading", total) as reach:
        reach(total)
    assert sys.stderr.getvalue() == ""
