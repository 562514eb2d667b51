"""No way from data to code: what ships neither evaluates nor unpickles nor starts programs, wherever one looks."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "horae"
CALLS = {"eval", "exec", "compile", "__import__", "breakpoint", "input"}
MODULES = {
    *("pickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "ctypes", "cffi", "code", "pty"),
    *("subprocess", "multiprocessing", "yaml", "jinja2", "xml", "runpy", "imp"),
}
STARTS = {"system", "popen", "fork", "forkpty", "posix_spawn", "create_subprocess_exec", "create_subprocess_shell"}
MAY_START = {
    *("boot/dev/programs.py", "boot/dev/cluster.py", "boot/dev/second_node.py"),
    *(f"boot/drills/{name}.py" for name in ("guarded", "processes", "scheduled", "scratch_server")),
}
"""`horae dev` and `horae drill` start programs, as lists of words: those of PostgreSQL, pgBackRest and systemd, and
`horae` itself. No other process does."""


MAY_READ = {"boot/schedule_files/yaml.py": {"yaml"}}
"""`jobs.yaml` is read by a safe loader, which makes no objects. `tests/boot/test_schedule_files.py` tests what it
refuses.
"""


def found(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each place that could run what it was given, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                yield node.lineno, name
            case ast.Import(names=names):
                yield from ((node.lineno, one.name) for one in names if one.name.split(".")[0] in MODULES)
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in MODULES:
                yield node.lineno, module
            case ast.Attribute(attr=name) if name in STARTS or name.startswith(("exec_module", "spawnv", "spawnl")):
                yield node.lineno, name
            case ast.keyword(arg="shell"):
                yield node.value.lineno, "shell="


def test_nothing_that_ships_runs_code_or_programs_out_of_data():
    places = {
        f"{path.relative_to(SOURCE)}:{line} {what}"
        for path in SOURCE.rglob("*.py")
        for line, what in found(ast.parse(path.read_text()))
        if str(path.relative_to(SOURCE)) not in MAY_START
        and what not in MAY_READ.get(str(path.relative_to(SOURCE)), ())
    }
    assert not places


def test_what_may_start_programs_uses_no_shell_and_evaluates_nothing():
    for name in MAY_START:
        assert {what for _, what in found(ast.parse((SOURCE / name).read_text()))} <= {
            "subprocess",
            "create_subprocess_exec",
        }


def test_yaml_is_only_read_by_a_safe_loader():
    for name in MAY_READ:
        named = {
            node.attr for node in ast.walk(ast.parse((SOURCE / name).read_text())) if isinstance(node, ast.Attribute)
        }
        assert not named & {"Loader", "FullLoader", "UnsafeLoader", "CLoader", "unsafe_load", "full_load"}


def test_the_look_finds_each_kind_of_place():
    planted = "eval(x)\nimport pickle\nfrom yaml import load\nos.system(x)\nrun(x, shell=True)\nimport a.b, marshal"
    assert [what for _, what in sorted(found(ast.parse(planted)))] == [
        *("eval", "pickle", "yaml", "system", "shell=", "marshal")
    ]
