from horae.domain.jobs.diffs import differences


def test_what_was_added_taken_away_and_changed_is_told_by_its_path():
    before = {"trigger": {"expression": "0 * * * *", "zone": "UTC"}, "labels": {"team": "a"}, "same": [1]}
    after = {"trigger": {"expression": "5 * * * *", "zone": "UTC"}, "priority": 0, "same": [1], "labels": {}}
    assert [difference.text for difference in differences(before, after)] == [
        '- labels.team: "a"',
        "+ priority: 0",
        '~ trigger.expression: "0 * * * *" → "5 * * * *"',
    ]


def test_equal_values_differ_nowhere_and_numbers_are_not_truths():
    assert differences({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}) == []
    assert len(differences({"a": 1}, {"a": True})) == 1
