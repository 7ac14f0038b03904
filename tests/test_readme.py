"""The Python of README and quickstart runs as it stands, and prints what the page shows."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
QUICKSTART = README.parent / "docs" / "quickstart.md"
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def test_the_ten_lines_run(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    exec(code, {})  # noqa: S102
    choice, accuracy = capsys.readouterr().out.splitlines()
    assert set(choice.split()[0].split("+")) <= {"wmmd", "least-squares", "score"}
    assert float(accuracy) > 0.8


def test_the_quickstart_prints_what_it_shows(capsys):
    code, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", QUICKSTART.read_text(), re.DOTALL).groups()
    exec(code, {})  # noqa: S102
    printed = capsys.readouterr().out
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
    assert [float(n) for n in NUMBER.findall(printed)] == pytest.approx(
        [float(n) for n in NUMBER.findall(shown)], abs=0.03
    )


def test_the_quickstart_shows_what_the_readme_does():
    """`tests/test_cli_transcript.py` replays the README."""
    (shown,) = (text for text in re.findall(r"```text\n(.*?)```", QUICKSTART.read_text(), re.DOTALL) if "Prior" in text)
    for line in shown.splitlines():
        assert line in README.read_text()


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", README.read_text()):
        if not target.startswith("http"):
            assert (README.parent / target).exists(), target
