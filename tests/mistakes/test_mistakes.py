"""The findings' own mistakes, put back one by one into a copy of the source: each is caught."""

import ast
from pathlib import Path

import pytest

from tests.mistakes.copies import ROOT, make_copy, put_back, run_tests
from tests.mistakes.plants import PLANTS

BY_FINDING = {plant.finding: plant for plant in PLANTS}
CHEAPEST = ("F3", "F17")
PAGE = ROOT / "docs" / "proof" / "mistakes.md"
FINDINGS = ROOT / "docs" / "proof" / "findings.md"


def functions_of(path: Path) -> set[str]:
    found = ast.walk(ast.parse(path.read_text()))
    return {node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def catch(finding: str, folder: Path) -> None:
    """Put a mistake back into a copy, and see its test fail there by its own assertion."""
    plant = BY_FINDING[finding]
    make_copy(folder)
    put_back(plant, folder)
    report = run_tests(folder, plant.test)
    assert report.imports_from(folder), report.text
    assert report.exit_code == pytest.ExitCode.TESTS_FAILED, report.text
    assert report.fails_by_assertion(plant.test), report.text


def test_every_plant_still_applies():
    assert len(BY_FINDING) == len(PLANTS) >= 16
    for plant in PLANTS:
        source = (ROOT / plant.file).read_text()
        assert source.count(plant.text) == 1, f"{plant.finding}: {plant.file}"
        planted = source.replace(plant.text, plant.mistake)
        assert planted != source, plant.finding
        if plant.file.endswith(".py"):
            compile(planted, plant.file, "exec")


@pytest.mark.parametrize("finding", BY_FINDING)
def test_every_test_that_a_plant_names_exists(finding):
    path, name = BY_FINDING[finding].test.split("::")
    assert name.partition("[")[0] in functions_of(ROOT / path)


@pytest.mark.parametrize("finding", BY_FINDING)
def test_the_page_tells_what_was_put_back_and_what_caught_it(finding):
    plant = BY_FINDING[finding]
    assert f"| {finding} | {plant.summary} | `{plant.file}` | `{plant.test}` |" in PAGE.read_text()
    assert f"| {finding} |" in FINDINGS.read_text()


@pytest.mark.parametrize("finding", CHEAPEST)
def test_the_cheapest_mistakes_are_caught(finding, tmp_path):
    catch(finding, tmp_path)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("finding", BY_FINDING)
def test_a_mistake_that_is_put_back_is_caught(finding, tmp_path):
    catch(finding, tmp_path)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_in_a_copy_without_a_mistake_the_same_tests_pass(tmp_path):
    make_copy(tmp_path)
    report = run_tests(tmp_path, *(plant.test for plant in PLANTS))
    assert report.imports_from(tmp_path), report.text
    assert report.exit_code == pytest.ExitCode.OK, report.text
