"""The table of roles as a Markdown page."""

from typing import Final

from horae.security.roles import ACTIONS, ANONYMOUS, Role, roles_for

HEAD: Final = """# Roles

What each role may do, made from `src/horae/security/roles.py` by `horae key roles > docs/api/roles.md`; a test
compares them. What is not in this table cannot be asked for. *Platform* actions are for keys of the tenant `system`
only. *Audited* actions leave exactly one audit row when they change something. A key may be narrowed further by scopes:
the name of an action, or a group such as `jobs.*`.

A key that is bound to some jobs by `job_labels`, for example to those of one owner (`horae.owner=billing`), may do the
actions marked *own jobs*, and only to these jobs. *Another owner's* jobs it can neither see nor change: everything else
is refused with 403.

"""


def markdown() -> str:
    """Return the whole page."""
    lines = [
        f"| action | verb | {' | '.join(Role)} | audited | platform | bound key, own jobs | another owner's |",
        f"|---|---|{'---|' * (len(Role) + 4)}",
    ]
    for name, action in ACTIONS.items():
        held = [_mark(role in roles_for(name)) for role in Role]
        marks = [*held, _mark(action.audited), _mark(action.platform), _mark(action.bound), ""]
        lines.append(f"| `{name}` | {action.verb} | {' | '.join(marks)} |")
    open_ = ", ".join(f"`{path}`" for path in sorted(ANONYMOUS))
    return HEAD + "\n".join(lines) + f"\n\nWithout a credential: {open_}.\n"


def _mark(yes: bool) -> str:
    return "✓" if yes else ""
