"""The map for newcomers names every entry of the package, and the recipes name files that are there."""

import re
import tomllib
from pathlib import Path

import pytest

import unlabeled

ROOT = Path(__file__).parents[1]
PACKAGE = Path(unlabeled.__file__).parent
pytestmark = pytest.mark.skipif(not (ROOT / "CONTRIBUTING.md").exists(), reason="a source distribution has no map")


@pytest.fixture(scope="module")
def page():
    return (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def entries():
    """What a newcomer sees in the folder."""
    found = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    return found - {"__init__"}


def test_the_map_names_every_entry_in_the_order_of_the_layers(page):
    named = re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE)
    assert set(named) == entries()
    assert len(named) == len(set(named))
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    level = {name: place for place, layer in enumerate(layers) for name in re.findall(r"\w+", layer)}
    assert [level[name] for name in named] == sorted(level[name] for name in named)


def test_files_that_the_page_names_are_there(page):
    named = re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|toml|md|txt|yml|yaml))`", page)
    assert len(named) > 15
    for name in named:
        if "NAME" not in name:
            assert (ROOT / name).exists() or (PACKAGE / name).exists(), name


def test_tables_that_the_recipes_name_are_there(page):
    for table, file in re.findall(r"`([A-Z_]{4,})` of\s+`([\w/]+\.py)`", page):
        assert re.search(rf"^{table}\b", (PACKAGE / file).read_text(encoding="utf-8"), flags=re.MULTILINE), (
            table,
            file,
        )
