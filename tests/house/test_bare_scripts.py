"""The scripts of the bare engine give a value to each parameter of the statements they share with the store."""

from uuid import uuid4

from benchmarks.bare import api, lifecycle, tasks


def test_every_script_fills_every_parameter(monkeypatch, tmp_path):
    for module in (api, lifecycle, tasks):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    tenant, job = uuid4(), str(uuid4())
    made = [
        lifecycle.Scripts(workers=4, batch=100, period=60).lifecycle(),
        tasks.put(),
        tasks.drain(100, 1024),
        api.put(tenant, 1),
        api.history(tenant, 7, job, 50),
        api.work(tenant, "mail", 100),
    ]
    assert all(path.read_text().strip() for path in made)
