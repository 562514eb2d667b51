"""Counts what a new reader stumbles over: `tools/words.py [--markdown] [--list] [CHECKOUT …]` prints a column for each.

A checkout is a folder or a commit of this repository. Over two of them it shows a change side by side; `--markdown`
prints the table of docs/proof/words.md, `--list` also the names that are counted.
"""

import ast
import io
import re
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).parents[1]
MIN_DUPLICATE_NODES: Final = 40
"""Functions with fewer syntax nodes look alike by chance."""
PARTICIPLE: Final = re.compile(
    r"^([A-Z][a-z]+(ed|ing)|Told|Shown|Held|Done|Said|Heard|Found|Sent|Kept|Made|Read|Ran|Born|Given|Taken|Left|Lost|Met|Seen|Gone|Known|Written|Hidden|Put|Set)$"
)
NOUNS: Final = {"Ring", "String", "Setting", "Timing", "Need", "Feed", "Seed", "Speed", "Thing"}
POSITIONAL: Final = re.compile(r"\$\d")


class Source:
    """The Python files and statements of one checkout."""

    def __init__(self, root: Path) -> None:
        self.src = root / "src" / "horae"
        self.texts = {path: path.read_text() for path in sorted(self.src.rglob("*.py"))}
        self.trees = {path: ast.parse(text) for path, text in self.texts.items()}
        statements = sorted(set(self.src.rglob("store/sql/**/*.sql")) - set(self.src.rglob("store/sql/parts/*.sql")))
        self.statements = [path.read_text() for path in statements]

    def classes(self) -> Iterator[tuple[str, Path]]:
        """Every class at the top level of a module."""
        for path, tree in self.trees.items():
            yield from ((node.name, path) for node in tree.body if isinstance(node, ast.ClassDef))

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every function and method."""
        for node in chain.from_iterable(map(ast.walk, self.trees.values())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def imports(self) -> int:
        """Lines that import something."""
        return sum(
            isinstance(node, ast.Import | ast.ImportFrom)
            for node in chain.from_iterable(map(ast.walk, self.trees.values()))
        )

    def homonyms(self) -> dict[str, list[Path]]:
        """Class names that stand for more than one thing."""
        homes = defaultdict(list)
        for name, path in self.classes():
            homes[name].append(path.relative_to(self.src))
        return {name: paths for name, paths in sorted(homes.items()) if len(paths) > 1}

    def participles(self) -> list[str]:
        """Types that are named by a bare participle."""
        return sorted({name for name, _ in self.classes() if PARTICIPLE.match(name) and name not in NOUNS})

    def duplicates(self) -> int:
        """Pairs of functions that say the same, whatever their names are called."""
        shapes = Counter(
            shape for node in self.functions() if (shape := _shape(node)).count("(") >= MIN_DUPLICATE_NODES
        )
        return sum(many * (many - 1) // 2 for many in shapes.values())


def _shape(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The syntax of a function without its names, texts and docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    text = "".join(ast.dump(node) for node in body)
    return re.sub(r"(id|arg|attr|value|name)='[^']*'", r"\1", text)


def figures(root: Path) -> dict[str, float]:
    """What is counted, by its name."""
    source = Source(root)
    lengths = [(node.end_lineno or node.lineno) - node.lineno + 1 for node in source.functions()]
    return {
        "files": len(source.texts),
        "lines of Python": sum(text.count("\n") for text in source.texts.values()),
        "import lines": source.imports(),
        "classes": sum(1 for _ in source.classes()),
        "class names that stand twice": len(source.homonyms()),
        "types named by a participle": len(source.participles()),
        "functions": len(lengths),
        "lines of a function, median": round(median(lengths)),
        "lines of a function, longest": max(lengths),
        "duplicate pairs of functions": source.duplicates(),
        "lines of SQL statements": sum(text.count("\n") for text in source.statements),
        "SQL statements": len(source.statements),
        "SQL statements with positional parameters": sum(bool(POSITIONAL.search(text)) for text in source.statements),
    }


def checkout(name: str, stack: ExitStack) -> Path:
    """The folder of a checkout; the sources of a commit are unpacked into a temporary one."""
    if Path(name).is_dir():
        return Path(name)
    archive = subprocess.run(["git", "archive", name, "src"], cwd=ROOT, check=True, capture_output=True).stdout
    folder = Path(stack.enter_context(TemporaryDirectory()))
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def print_plain(columns: list[dict[str, float]]) -> None:
    """A table for a terminal."""
    for name in columns[0]:
        print(f"{name:44}" + "".join(f"{column[name]:>12g}" for column in columns))


def print_markdown(names: list[str], columns: list[dict[str, float]]) -> None:
    """A table for a page, with the checkouts as its heads."""
    print("| in `src/horae` |", " | ".join(f"`{name}`" for name in names), "|")
    print("|---|" + "---:|" * len(names))
    for name in columns[0]:
        print(f"| {name} |", " | ".join(f"{column[name]:,}" for column in columns), "|")


def main(words: list[str]) -> int:
    """Print the table, and the names where they are asked for."""
    names = [word for word in words if not word.startswith("--")] or [str(ROOT)]
    with ExitStack() as stack:
        roots = [checkout(name, stack) for name in names]
        columns = [figures(root) for root in roots]
        if "--markdown" in words:
            print_markdown(names, columns)
        else:
            print_plain(columns)
        if "--list" in words:
            source = Source(roots[-1])
            twice = (f"\n  {name}: {', '.join(map(str, paths))}" for name, paths in source.homonyms().items())
            print("\ntwice:", *twice)
            print("participles:", ", ".join(source.participles()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
