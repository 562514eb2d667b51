"""The real Quartz, asked through a small Java program that is compiled when it is needed."""

import shutil
import subprocess
from pathlib import Path

JARS = [
    Path("/usr/share/java/quartz2.jar"),
    Path("/usr/share/java/slf4j-api.jar"),
    Path("/usr/share/java/slf4j-nop.jar"),
]
CLASSPATH = ":".join(map(str, JARS))


def missing():
    """Why it cannot be asked here; nothing when it can."""
    lacking = [str(jar) for jar in JARS if not jar.exists()] + [
        name for name in ("java", "javac") if not shutil.which(name)
    ]
    return f"the real Quartz is not installed (tools/services installs it): no {', '.join(lacking)}" if lacking else ""


class Quartz:
    """Answers many questions in one run of the Java program."""

    def __init__(self, workdir):
        self.workdir = Path(workdir)
        source = Path(__file__).with_name("Fires.java")
        command = ["javac", "-proc:none", "-nowarn", "-cp", CLASSPATH, "-d", str(self.workdir), str(source)]
        subprocess.run(command, check=True, capture_output=True)

    def fires(self, questions):
        """For each (start, zone, many, expression) the fires in seconds since 1970, or the refusal as text."""
        asked = "".join("\t".join(map(str, question)) + "\n" for question in questions)
        done = subprocess.run(
            ["java", "-Xshare:auto", "-XX:+UseSerialGC", "-cp", f"{CLASSPATH}:{self.workdir}", "Fires"],
            input=asked,
            capture_output=True,
            text=True,
            check=True,
        )
        return [
            line if line.startswith(("refused", "hung")) else [int(at) for at in line.split()]
            for line in done.stdout.splitlines()
        ]
