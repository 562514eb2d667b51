"""What checks the Helm chart: real programs, schemas of every kind, and committed renders.

    tools/kubernetes programs     installs helm and kubeconform by Go, and prints their folder
    tools/kubernetes schemas      folds the schemas for kubeconform, and prints their folder
    tools/kubernetes crds         prints the files of the custom resources of KEDA and of the Prometheus operator
    tools/kubernetes render       writes the renders of the chart to tests/deploy/golden
    tools/kubernetes apiserver    builds kube-apiserver by Go, and prints its path

All but the renders stay in a cache outside of the tree. The first call takes minutes, the next one only prints.
"""

import sys

from apiserver import build_apiserver
from programs import install_programs
from renders import write_renders
from schemas import crd_files, fold_schemas

COMMANDS = {
    "programs": install_programs,
    "schemas": fold_schemas,
    "crds": lambda: "\n".join(map(str, crd_files())),
    "render": write_renders,
    "apiserver": build_apiserver,
}


def main(words: list[str]) -> int:
    """Run one command, and print what it returns."""
    if len(words) != 1 or words[0] not in COMMANDS:
        print(__doc__, file=sys.stderr)
        return 64
    print(COMMANDS[words[0]]())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
