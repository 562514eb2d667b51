"""`horae certificate` and the keys that sign it, as an operator types them."""

from datetime import UTC, datetime, timedelta

from tests.certificates import verifier


def test_an_operator_certifies_a_day_and_a_verifier_needs_only_the_bundle_and_the_key(horae, tmp_path):
    day = str((datetime.now(UTC) - timedelta(days=1)).date())
    today, bundle = str(datetime.now(UTC).date()), tmp_path / "bundle.zip"
    horae("migrate")  # it creates the tenant
    assert "there is no signing key" in horae("certificate", "--day", day, status=4)
    made = horae.json("keyring", "create-signing-key")
    [shown] = horae.json("keyring", "show")
    assert (shown["key"], shown["public"]) == (made["key"], made["public"])
    first = horae.json("certificate", "--day", day)
    assert horae.json("certificate", "make", "--day", day) == first
    assert f"default on {day} (UTC), revision 1" in horae("certificate", "--day", day)
    assert horae.json("certificate", "--day", day, "--again")["certificate"]["revision"] == 2
    assert "is not over" in horae("certificate", "--day", today, status=1)
    horae("certificate", "export", "--day", day, "--out", str(bundle))
    assert "exists already" in horae("certificate", "export", "--day", day, "--out", str(bundle), status=4)
    rows = horae("certificate", "list", "--since", day, "--until", today)
    assert "clean" in rows
    [listed] = horae.json("certificate", "list", "--since", day, "--until", today)["days"]
    assert (listed["day"], listed["revision"], listed["findings"]) == (day, 2, 0)
    assert "at most 366" in horae("certificate", "list", "--help")
    ran = verifier.run(bundle, made["public"])
    assert (ran.returncode, ran.stderr) == (0, "")
