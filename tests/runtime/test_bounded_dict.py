"""A full dictionary loses its oldest key to a new one, and none to a key that it has."""

from horae.runtime.bounded_dict import BoundedDict


def filled(most, *keys):
    kept = BoundedDict(most)
    for key in keys:
        kept[key] = key.upper()
    return kept


def test_a_new_key_takes_the_place_of_the_oldest_one():
    assert dict(filled(2, "a", "b", "c")) == {"b": "B", "c": "C"}
    assert list(filled(3, *"abcdefgh")) == ["f", "g", "h"]


def test_a_key_that_is_set_again_removes_nothing_and_keeps_its_place():
    kept = filled(2, "a", "b")
    kept["a"] = "new"
    assert dict(kept) == {"a": "new", "b": "B"}
    kept["c"] = "C"
    assert list(kept) == ["b", "c"]


def test_a_key_that_was_removed_leaves_room():
    kept = filled(2, "a", "b")
    assert kept.pop("a") == "A"
    kept["c"] = "C"
    assert list(kept) == ["b", "c"]
