"""Routes depend on coroutine functions only: the framework calls any other in a thread, at each request."""

from inspect import iscoroutinefunction

import pytest
from fastapi.routing import APIRoute

from horae.api.app import ROUTERS

ROUTES = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]


def all_calls(dependant):
    """What the framework calls for a route, however deep."""
    for one in dependant.dependencies:
        yield one.call
        yield from all_calls(one)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_no_dependency_of_a_route_runs_in_a_thread(route):
    in_threads = [
        call
        for call in (route.endpoint, *all_calls(route.dependant))
        if not iscoroutinefunction(call) and not iscoroutinefunction(type(call).__call__)
    ]
    assert in_threads == []


def test_there_are_routes():
    assert len(ROUTES) > 100
