from horae.security.roles import ACTIONS, GRANTS, Permission, Role, known_scope, may, roles_for


def test_what_makes_something_run_needs_execute_and_reading_does_not_do():
    for action, line in ACTIONS.items():
        if action.rpartition(".")[2] in {"trigger", "retry", "replay", "backfill", "pause", "resume", "cancel"}:
            assert line.verb is Permission.EXECUTE or (line.verb is Permission.MANAGE and line.platform)
            assert all(Permission.EXECUTE in GRANTS[role] for role in roles_for(action))
    for role in (Role.VIEWER, Role.AUDITOR, Role.WORKER):
        assert Permission.EXECUTE not in GRANTS[role]


def test_what_is_not_in_the_table_is_denied_to_everyone():
    assert not may("jobs.explode", list(Role), (), platform=True)


def test_nobody_without_a_role_may_anything():
    assert not any(may(action, (), (), platform=True) for action in ACTIONS)


def test_a_platform_action_needs_the_system_tenant():
    assert may("tenants.create", [Role.ADMIN], (), platform=True)
    assert not may("tenants.create", list(Role), (), platform=False)


def test_a_scope_narrows_and_never_widens():
    assert may("jobs.pause", [Role.OPERATOR], ["jobs.*"], platform=False)
    assert not may("keys.list", [Role.OPERATOR], ["keys.*"], platform=False)
    assert not may("jobs.pause", [Role.OPERATOR], ["jobs.read"], platform=False)
    assert known_scope("jobs.*")
    assert not known_scope("job.*")
    assert not known_scope("*")


def test_everything_that_changes_who_may_do_what_is_audited():
    for action, line in ACTIONS.items():
        changes = line.verb in {Permission.WRITE, Permission.MANAGE} and not action.endswith(".list")
        if changes and action not in {"plans.apply", "shards.move"}:  # each job or shard has its own row
            assert line.audited, action
