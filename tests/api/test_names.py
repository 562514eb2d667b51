"""A rename of a component or an operation of the document is a change of a committed list, which a review sees."""

from collections import Counter

from tests.api.names import lists


def test_the_names_of_the_document_are_those_of_the_committed_lists():
    for file, names in lists().items():
        assert file.read_text().splitlines() == names, f"run `python -m tests.api.names` and look at {file.name}"


def test_every_operation_has_a_name_of_its_own():
    operations = next(names for file, names in lists().items() if file.name == "operations.txt")
    counted = Counter(line.split()[0] for line in operations)
    assert [name for name, count in counted.items() if count > 1] == []
