"""Messages sent as other people's producers do: nobody keeps an order."""

from horae.delivery.brokers import Message, sink_of


async def send(broker, topic, said, seed):
    """Each under an id of its own; `seed` tells one sending from another."""
    sink = sink_of(broker.settings)
    await sink.open()
    for first in range(0, len(said), 2000):
        some = said[first : first + 2000]
        await sink.send(topic, [Message(f"{seed}-{first + n}", f"{first + n}", one, {}) for n, one in enumerate(some)])
    await sink.close()
