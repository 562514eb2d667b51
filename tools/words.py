"""Counts what a new reader stumbles over: `tools/words.py [CHECKOUT …]` prints a column for each.

Run over two checkouts it shows a change side by side.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Final

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
        self.statements = [path.read_text() for path in sorted(self.src.rglob("store/sql/**/*.sql"))]

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
        "lines": sum(text.count("\n") for text in source.texts.values()),
        "import lines": source.imports(),
        "classes": sum(1 for _ in source.classes()),
        "class names that stand twice": len(source.homonyms()),
        "types named by a participle": len(source.participles()),
        "functions": len(lengths),
        "lines of a function, median": median(lengths),
        "lines of a function, longest": max(lengths),
        "duplicate pairs of functions": source.duplicates(),
        "SQL statements": len(source.statements),
        "SQL statements with positional parameters": sum(bool(POSITIONAL.search(text)) for text in source.statements),
    }


def main(words: list[str]) -> int:
    """Print a table; with `--list` also the names that are counted."""
    roots = [Path(word) for word in words if word != "--list"] or [Path(__file__).parents[1]]
    columns = [figures(root) for root in roots]
    for name in columns[0]:
        print(f"{name:44}" + "".join(f"{column[name]:>12g}" for column in columns))
    if "--list" in words:
        source = Source(roots[-1])
        print("\ntwice:", *(f"\n  {name}: {', '.join(map(str, paths))}" for name, paths in source.homonyms().items()))
        print("participles:", ", ".join(source.participles()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
