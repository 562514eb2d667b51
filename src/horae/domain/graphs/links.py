"""Which steps of a graph stand next to each other, by their places in it: worked out once for a version of a graph.

A success changes only the steps that need it, if nothing else in the run is open. So whoever records it reads these and
what they need, and not the whole run.
"""

from collections.abc import Iterable
from typing import NamedTuple

from horae.domain.graphs.graphs import Graph, GraphStep, followers_of


class GraphLinks(NamedTuple):
    """The steps of a graph by place. `needs` are those that a step needs, `followers` those that need it."""

    graph: Graph
    needs: tuple[tuple[int, ...], ...]
    followers: tuple[tuple[int, ...], ...]

    def around(self, ended: Iterable[int]) -> set[int]:
        """Return the steps that need these steps, and all steps that those need."""
        following = {follower for place in ended for follower in self.followers[place]}
        return following.union(*(self.needs[follower] for follower in following))


def links_of(graph: Graph) -> GraphLinks:
    """Work out the links of a graph."""
    places = {step.name: place for place, step in enumerate(graph.steps)}
    found = followers_of((step.name, step.needs) for step in graph.steps)
    return GraphLinks(
        graph,
        tuple(tuple(places[need] for need in step.needs) for step in graph.steps),
        tuple(tuple(places[follower] for follower in found.get(step.name, ())) for step in graph.steps),
    )


def is_plain(step: GraphStep) -> bool:
    """Return whether a step is released without reading anything: it has no parameters and no list."""
    return not step.parameters and step.each is None


def first_steps(graph: Graph) -> list[int] | None:
    """Return the places of the steps that need no other one; None if one of them is not plain."""
    places = [place for place, step in enumerate(graph.steps) if not step.needs]
    return places if all(is_plain(graph.steps[place]) for place in places) else None
