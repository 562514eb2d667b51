"""The console names and explains the kinds of alerts as messages do, and its forms know what a rule of a kind has."""

import json
import subprocess

import pytest

from horae.domain.alerts import chinese, english
from horae.domain.alerts.kinds import AlertKind, AlertScope
from horae.domain.alerts.rules import LIMITS, OF_ONE_TENANT
from tests.console.words import NODE, ROOT, Words

READ = "console.log(JSON.stringify((await import(process.argv[1])).FACTS))"


@pytest.mark.parametrize(("language", "domain"), [("en", english.WORDS), ("zh-CN", chinese.WORDS)])
async def test_the_console_and_messages_use_the_same_words(language, domain):
    words = Words(language)
    for kind in AlertKind:
        assert words(f"alerts.kinds.{kind}").lower() == domain.names[kind].lower()
        assert words(f"alerts.meanings.{kind}") == domain.meanings[kind]


async def test_the_form_of_a_rule_knows_thresholds_selectors_and_scopes_of_every_kind():
    path = str(ROOT / "console/src/pages/alerts/kinds.ts")
    command = [NODE, "--no-warnings", "--input-type=module", "--eval", READ, path]
    facts = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert list(facts) == list(AlertKind)
    for kind in AlertKind:
        limits = LIMITS[kind]
        assert facts[kind].get("threshold") == (None if limits.adds else limits.threshold), kind
        assert facts[kind].get("perJob", False) == limits.per_job, kind
        for_platform = kind.scope is AlertScope.PLATFORM and kind not in OF_ONE_TENANT
        assert facts[kind].get("platform", False) == for_platform, kind
