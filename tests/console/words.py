"""The console's own texts, so that tests look for what people read, in either language."""

import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
NODE = ROOT / ".venv/node/js/node"
READ = """
const folder = process.argv[1];
const { readdirSync } = await import("node:fs");
const { basename } = await import("node:path");
const told = {};
for (const file of readdirSync(folder, { recursive: true })) {
  if (!file.endsWith(".ts") || file === "index.ts") continue;
  told[basename(file, ".ts")] = (await import(`${folder}/${file}`)).default;
}
console.log(JSON.stringify(told));
"""
BLANK = re.compile(r"{{\s*(\w+)[^}]*}}")


@cache
def _told(language: str) -> dict[str, dict]:
    folder = ROOT / "console/src/words" / language
    words = [NODE, "--no-warnings", "--input-type=module", "--eval", READ, str(folder)]
    said = subprocess.run(words, check=True, capture_output=True, text=True, env=os.environ)
    return json.loads(said.stdout)


class Words:
    """One language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, name: str, /, **blanks: object) -> str:
        """A text by its page and key, such as `jobs.create`, its blanks filled in."""
        return BLANK.sub(lambda blank: str(blanks[blank[1]]), self._raw(name))

    def containing(self, name: str, **blanks: object) -> "re.Pattern[str]":
        """Something with the text in it, and anything in the blanks that are not filled in."""
        parts = re.split(r"({{[^}]*}})", self._raw(name))
        return re.compile("".join(self._part(part, blanks) for part in parts))

    def any(self, *names: str) -> "re.Pattern[str]":
        """One of several texts."""
        return re.compile("|".join(self.containing(name).pattern for name in names))

    def _part(self, part: str, blanks: dict[str, object]) -> str:
        blank = BLANK.fullmatch(part)
        if blank is None:
            return re.escape(part)
        return re.escape(str(blanks[blank[1]])) if blank[1] in blanks else ".*"

    def _raw(self, name: str) -> str:
        page, *keys = name.split(".")
        found: object = _told(self.language)[page]
        for key in keys:
            found = found[key]  # type: ignore[index]
        assert isinstance(found, str), name
        return found
