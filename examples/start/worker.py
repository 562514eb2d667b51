"""A worker of the queue `hello`: `horae dev --env` has written where to ask, and with which key."""

from horae_client import Context, Worker

worker = Worker()  # HORAE_URL and HORAE_KEY


@worker.task("hello")
def hello(ctx: Context) -> None:
    """Whatever your business does when it is time."""
    print(f"hello: due at {ctx.fire_time:%H:%M:%S} UTC, attempt {ctx.attempt}", flush=True)


if __name__ == "__main__":
    worker.run()
