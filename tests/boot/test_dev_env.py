"""`horae dev --env` hands its key to nobody else, also in a folder that others write to."""

from types import SimpleNamespace

from horae.boot.commands.dev import _write_env

DOOR = SimpleNamespace(address="http://127.0.0.1:1", key="horae_key")
DATABASE = SimpleNamespace(dsn="postgresql:///x", settings=SimpleNamespace(keyring=None))


def test_a_file_that_waits_under_the_name_beside_is_not_written_to(tmp_path):
    file, trap = tmp_path / "env", tmp_path / "trap"
    trap.write_text("")
    trap.chmod(0o644)
    (tmp_path / "env.new").symlink_to(trap)
    with _write_env(file, DATABASE, DOOR):
        assert "HORAE_KEY=horae_key" in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
        assert not file.is_symlink()
        assert trap.read_text() == ""
    assert not file.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["env.new", "trap"]
