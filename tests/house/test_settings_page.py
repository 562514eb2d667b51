"""The page of settings has every setting, with its unit, its default, who reads it and when to change it."""

import re
from pathlib import Path

import pytest
from tools.settings import docs_of, own_fields, page, readers_of, tables_of

from horae.runtime.settings import Settings
from horae.runtime.settings.facts import EVERY_PROCESS, Secrecy, Unit, fact_of
from horae.runtime.settings.settings import GROUPS

ROOT = Path(__file__).parents[2]
COUNTED = {"slots", "long_slots", "api_concurrency", "api_connections"}
"""Numbers of things: their names are their unit."""
PARTS = {"service_level", "traces_sampled"}
"""Parts of a whole: they have no unit."""
SECRET_WORDS = ("secret", "password", "token", "dsn")
OTHER_NAMES = {"HORAE_CONFIG", "HORAE_URL", "HORAE_KEY"}
"""Variables that are no settings: where the settings are, and what the client reads."""


def test_the_page_is_what_the_code_says():
    assert (ROOT / "docs/settings.md").read_text() == page(), "python tools/settings.py > docs/settings.md"


def test_every_setting_is_in_one_group():
    names = [name for group in GROUPS for name in own_fields(group)]
    assert sorted(names) == sorted(Settings.model_fields)


@pytest.mark.parametrize("group", GROUPS)
def test_every_setting_says_what_it_means_and_when_to_change_it(group):
    docs = docs_of(group)
    for name, field in own_fields(group).items():
        meaning, change = docs[name].split("\n")
        assert meaning.endswith("."), name
        assert re.match(r"Change it .*\.$", change), name
        assert set(readers_of(group, field)) <= set(EVERY_PROCESS), name
    for _, part in tables_of(group):
        assert docs_of(part).keys() == own_fields(part).keys()


def test_every_number_has_a_unit():
    for name, field in Settings.model_fields.items():
        is_number = field.annotation in (int, float) or float in getattr(field.annotation, "__args__", ())
        if is_number and name not in COUNTED | PARTS and not name.endswith("_port"):
            assert fact_of(field, Unit), name


def test_what_is_called_a_secret_is_one():
    for group in GROUPS:
        models = [group, *(part for _, part in tables_of(group))]
        for name, field in ((name, field) for model in models for name, field in own_fields(model).items()):
            if name.endswith(SECRET_WORDS):
                assert fact_of(field, Secrecy), name


def test_no_page_names_a_setting_that_does_not_exist():
    known = {f"HORAE_{name.upper()}" for name in Settings.model_fields}
    known |= {f"{one}_FILE" for one in known} | OTHER_NAMES
    found = set(re.findall(r"\bHORAE_[A-Z_]*[A-Z]\b", (ROOT / "docs/settings.md").read_text()))
    assert {one.partition("__")[0] for one in found} <= known
