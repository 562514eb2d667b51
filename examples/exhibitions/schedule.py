"""What this business asks of Horae: two types of tasks, and a secret that signs the calls."""

from contextlib import suppress

from horae_client import Client, Http, Keyed, errors

from .business import NOTIFY_RESERVATIONS, START_ENROLLING

SECRET_NAME = "exhibitions"
PATHS = {START_ENROLLING: "/hooks/start-enrolling", NOTIFY_RESERVATIONS: "/hooks/notify-reservations"}


def declare(client: Client, our_url: str, secret: str) -> None:
    """Make sure that the types exist. Asked at every start: what is there already is left as it is."""
    client.secrets.put(SECRET_NAME, secret)
    for name, path in PATHS.items():
        with suppress(errors.NameTaken):
            client.jobs.create(name, trigger=Keyed(), target=Http(our_url + path, signing=SECRET_NAME))
