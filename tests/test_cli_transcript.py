"""Replays the commands of the analyst's page and compares what they print. UPDATE_TRANSCRIPT=1 writes it down anew."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from unlabeled.cli.commands import app
from unlabeled.cli.failures import run

ROOT = Path(__file__).parents[1]
#: Pages whose commands follow each other in the same folder.
PAGES = ((ROOT / "README.md",), (ROOT / "docs" / "analyst.md", ROOT / "docs" / "checks.md"))
BLOCK = re.compile(r"(```console\n)(.*?)(```)", re.DOTALL)
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?%?")

#: Ranks of near ties, and with them rows, may differ between machines; other figures agree to two digits.
SHOWS_ROWS = ("head ", "unlabeled explain ")


def replay(command, capsys):
    if not command.startswith("unlabeled "):
        return subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True).stdout
    assert run(app, shlex.split(command)[1:]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def replayed_page(page, capsys):
    """The page with what its commands print now."""

    def block(match):
        commands = [line for line in match[2].splitlines() if line.startswith("$ ")]
        return match[1] + "".join(f"{line}\n{replay(line[2:], capsys)}" for line in commands) + match[3]

    return BLOCK.sub(block, page)


def commands_of(page):
    """Each command of a page, and what the page shows it to print."""
    blocks = (block for _, block, _ in BLOCK.findall(page))
    return [tuple(part.split("\n", 1)) for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


def words_and_numbers(text):
    """Words without the numbers in them, and the numbers."""
    numbers = [float(found.rstrip("%").replace(",", "")) for found in NUMBER.findall(text)]
    return NUMBER.sub("#", re.sub(r"C\d+", "C", text)).split(), numbers


@pytest.mark.parametrize("paths", PAGES, ids=lambda paths: "-".join(path.stem for path in paths))
def test_the_page_is_what_the_commands_print(paths, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for path in paths:
        with threadpool_limits(1, user_api="openmp"):
            compare(path, replayed_page(path.read_text(), capsys))


def compare(path, now):
    page = path.read_text()
    if os.environ.get("UPDATE_TRANSCRIPT"):
        path.write_text(now)
    assert "\x1b" not in now
    for (command, old), (_, new) in zip(commands_of(page), commands_of(now), strict=True):
        old_words, old_numbers = words_and_numbers(old)
        new_words, new_numbers = words_and_numbers(new)
        assert new_words == old_words, command
        if not command.startswith(SHOWS_ROWS):
            assert new_numbers == pytest.approx(old_numbers, rel=0.02, abs=0.02), command
