#!/usr/bin/env python3
"""grammar.py HEDDLE RUNNER [COUNT [SEED [ITEMS]]]: writes COUNT programs from the grammar of PTX (productions.py), with ITEMS
productions in each. NVIDIA's assembler must take them, Heddle must load them, and their results must be those of the manual. Prints
how many of the assembler's programs load, and each difference. PTXAS is the assembler, default /usr/local/cuda/bin/ptxas; without
one only the results are tested."""
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import productions  # noqa: E402

HEDDLE, RUNNER = sys.argv[1:3]
COUNT, SEED, ITEMS = [int(word) for word in (sys.argv[3:] + ["200", "1", "5"][len(sys.argv) - 3:])]
PTXAS = os.environ.get("PTXAS", "/usr/local/cuda/bin/ptxas")


def runs(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False)


class Findings:
    """Programs that failed at one step: how many by production, and one of them."""

    def __init__(self, step):
        self.step, self.count, self.example, self.n = step, collections.Counter(), {}, 0

    def add(self, path, used, result):
        self.n += 1
        self.count.update(set(used))
        lines = [line for line in result.stdout.split("\n") if line.strip()] or [""]
        self.example.setdefault(used[0], "%s: %s" % (path, lines[0]))

    def show(self):
        for name, n in self.count.most_common():
            print("  %s: %s, %d programs%s" % (self.step, name, n, "; " + self.example[name] if name in self.example else ""))


def main():
    has_assembler = shutil.which(PTXAS) is not None
    folder = tempfile.mkdtemp(prefix="heddle-grammar-")
    invalid, refused, wrong = Findings("ptxas refuses"), Findings("Heddle refuses"), Findings("wrong result")
    for i in range(COUNT):
        text, used = productions.program(random.Random("%d %d" % (SEED, i)), ITEMS)
        path = os.path.join(folder, "program%d.ptx" % i)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        steps = [(invalid, [PTXAS, "-arch=sm_90", "-o", os.devnull, path])] if has_assembler else []
        for findings, command in steps + [(refused, [HEDDLE, "ptx", path]), (wrong, [RUNNER, path])]:
            result = runs(*command)
            if findings is invalid and result.returncode < 0:
                continue  # some releases of ptxas crash; that is no answer
            if result.returncode:
                findings.add(path, used, result)
                break
    taken = COUNT - invalid.n
    loaded = taken - refused.n
    print("%d programs, %d of them %s; Heddle loads %d, %.1f %%; %d have the right results" % (
        COUNT, taken, "taken by ptxas" if has_assembler else "assumed to be right (no ptxas)", loaded,
        100 * loaded / max(taken, 1), loaded - wrong.n))
    for findings in (invalid, refused, wrong):
        findings.show()
    if invalid.n + refused.n + wrong.n:
        sys.exit(1)
    shutil.rmtree(folder)


main()
