"""The certificate of a day that a real node lived through, and the script that verifies it."""

import ast
import sys

import pytest

from horae.domain.certificates.certificates import range_of
from horae.domain.errors import Invalid, NotFound
from horae.service.audit.fires import AuditRange, audit_fires, sum_up
from horae.service.certificates import certificates
from tests.certificates import verifier
from tests.certificates.days import CERTIFIED, CLOCK_CHANGE, KEY, certified, export
from tests.certificates.forgeries import Power, forge, forgeries, read_bundle, write_bundle
from tests.fire_audit.days import BEGIN
from tests.fire_audit.faults import FAULTS
from tests.fire_audit.test_days import plant

PUBLIC = KEY.public.hex()
FORGED = 33
"""Forgeries in the suite: each kind without any power, and each that the script can count again with all of it."""


def test_the_script_imports_only_the_standard_library_and_has_at_most_200_lines():
    text = verifier.FILE.read_text()
    assert len(text.splitlines()) <= 200
    tree = ast.walk(ast.parse(text))
    named = [one for one in tree if isinstance(one, ast.Import | ast.ImportFrom)]
    roots = {name.split(".")[0] for one in named for name in [getattr(one, "module", None) or one.names[0].name]}
    assert roots <= sys.stdlib_module_names


@pytest.mark.horae(at=BEGIN, cells=2)
def test_a_third_party_verifies_days_and_finds_forgeries(horae, tmp_path):
    day = certified(horae, tmp_path)
    check_numbers(horae, day)
    check_forgeries(day, tmp_path, FORGED)
    check_day_of_clock_change(horae, tmp_path)
    check_findings_are_part_of_it(horae, tmp_path)


@pytest.mark.long
@pytest.mark.horae(at=BEGIN, cells=2)
def test_two_hundred_forgeries_are_found(horae, tmp_path, record_property):
    found = check_forgeries(certified(horae, tmp_path), tmp_path, 200)
    record_property("forgeries", len(found))


def check_numbers(horae, day):
    """The certificate, the audit of fires and the script count the same."""
    total = day.certificate.content.total
    assert (total.expected, total.on_time, total.late, total.dead, total.missing) == (62, 45, 4, 2, 0)
    assert total.skipped == {"CALENDAR": 4, "MISFIRE": 6, "REQUESTED": 1}
    assert sum(job.counts.expected for job in day.certificate.content.jobs) == total.expected
    audited = horae._do(audited_counts(horae))
    assert (audited.expected, audited.skipped) == (total.expected, total.skipped)
    ran = verifier.run(day.bundle, PUBLIC, day.anchors)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert '"expected": 62' in ran.stdout
    assert "Not computed from definitions: none" in ran.stdout
    assert verifier.run(day.bundle, PUBLIC[::-1]).returncode == 1


async def audited_counts(horae):
    wanted = AuditRange(*range_of(CERTIFIED))
    audited = [one async for one in audit_fires(horae._world.ctx.store.cells, wanted)]
    return sum_up(one.verdict.counts for one in audited)


def check_forgeries(day, folder, many):
    """Each is found, with a sentence. Whoever may write the whole audit log meets a verifier without an anchor."""
    true, file, found = read_bundle(day.bundle), folder / "forged.zip", []
    write_bundle(file, true)
    assert verifier.complaint_about(file, PUBLIC, day.anchors) is None
    for name, forgery, power, dice in forgeries(many):
        write_bundle(file, forge(true, forgery, power, KEY, dice))
        kept = [] if power is Power.CHAIN else [day.anchors]
        sentence = verifier.complaint_about(file, PUBLIC, *kept)
        assert sentence is not None, (name, power)
        assert sentence.startswith("WRONG: "), (name, power)
        found.append(sentence)
    return found


def check_day_of_clock_change(horae, folder):
    ctx, do = horae._world.ctx, horae._do
    with pytest.raises(Invalid, match="is not over"):
        do(certificates.make(ctx, KEY, CLOCK_CHANGE))
    with pytest.raises(NotFound, match="has no certificate"):
        do(certificates.find(ctx, CLOCK_CHANGE))
    horae.advance(hours=3)
    made = do(certificates.make(ctx, KEY, CLOCK_CHANGE))
    assert made.content.total.skipped == {"DST_GAP": 1, "MISFIRE": 1, "PAUSED": 17}
    ran = verifier.run(export(horae, CLOCK_CHANGE, folder / "clock.zip"), PUBLIC)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Not computed from definitions: ['berlin', 'gap']" in ran.stdout


def check_findings_are_part_of_it(horae, folder):
    """A certificate stays as it is; its next revision says what was found since then."""
    ctx, do = horae._world.ctx, horae._do
    first = do(certificates.find(ctx, CLOCK_CHANGE))
    plant(horae, FAULTS["a row is deleted"])
    assert do(certificates.make(ctx, KEY, CLOCK_CHANGE)) == first
    second = do(certificates.make(ctx, KEY, CLOCK_CHANGE, again=True))
    assert (second.content.revision, second.content.total.missing) == (2, 1)
    assert [one.fault for one in second.content.findings] == ["MISSING"]
    ran = verifier.run(export(horae, CLOCK_CHANGE, folder / "again.zip"), PUBLIC)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "1 findings" in ran.stdout
