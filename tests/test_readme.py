"""The README's Python runs as it stands."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_ten_lines_run(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    exec(code, {})  # noqa: S102
    choice, accuracy = capsys.readouterr().out.splitlines()
    assert set(choice.split()[0].split("+")) <= {"wmmd", "least-squares", "score"}
    assert float(accuracy) > 0.8


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", README.read_text()):
        if not target.startswith("http"):
            assert (README.parent / target).exists(), target
