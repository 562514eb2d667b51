"""Files that are only ever added to."""

import os

import pytest

from horae.runtime import files


@pytest.mark.parametrize("size", [0, 1, 10, 1000])
def test_what_is_appended_is_whole_even_where_the_disk_takes_it_in_parts(tmp_path, monkeypatch, size):
    write = os.write
    monkeypatch.setattr(os, "write", lambda place, data: write(place, data[:7]))
    file = tmp_path / "log"
    files.append(file, b"before ")
    files.append(file, b"x" * size)
    assert file.read_bytes() == b"before " + b"x" * size


def test_a_disk_that_takes_nothing_is_an_error_and_no_endless_loop(tmp_path, monkeypatch):
    def full(_place, _data):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="no space"):
        files.append(tmp_path / "log", b"x")
