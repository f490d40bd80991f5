#!/usr/bin/env python3
"""exports.py HEDDLE: reads what commands write for scripts. What several of them have is called the same, and has the same values."""
import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

HEDDLE = sys.argv[1]
FOLDER = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(FOLDER.name, name)


def write(name, text):
    with open(path(name), "w", encoding="utf-8") as file:
        file.write(text)
    return path(name)


def heddle(*words):
    subprocess.run([HEDDLE, *words, "-q"], stdout=subprocess.DEVNULL, check=True)


def rows_of(name):
    with open(path(name), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert rows and all(None not in row and None not in row.values() for row in rows), f"{name} has ragged lines"
    return rows


def json_of(name):
    with open(path(name), encoding="utf-8") as file:
        return json.load(file)


def filled(row):
    """The columns with a value: figures for energy, say, are not there on every machine."""
    return {name for name, value in row.items() if value != ""}


def expect(what, found, wanted):
    assert found == wanted, f"{what}: found {found}, expected {wanted}"


RUN = ["--size", "small", "--scheduler", "gto", "--divergence", "stack", "--machine", "gtx480"]
WHO = {"program": "reduction", "size": "small", "machine": "gtx480", "scheduler": "gto", "divergence": "stack"}

heddle("run", "reduction", *RUN, "--csv", path("run.csv"), "--json", path("run.json"))
launches, run = rows_of("run.csv"), json_of("run.json")
for number, (row, launch) in enumerate(zip(launches, run["kernels"], strict=True), 1):
    expect("run --csv", {key: row[key] for key in WHO}, WHO)
    expect("the number of a launch", (row["launch"], launch["launch"]), (str(number), number))
    expect("the kernel", row["kernel"], launch["name"])
    expect("the cycles", int(row["cycles"]), launch["cycles"])
expect("run --json", {key: run[key] for key in WHO}, WHO)
assert filled(launches[0]) - {"kernel", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", *WHO} <= set(
    run["kernels"][0]), "a column of run --csv is no key of the launches in --json"

heddle("compare", "reduction", *RUN, "--csv", path("compare.csv"), "--json", path("compare.json"))
(row,), (compared,) = rows_of("compare.csv"), json_of("compare.json")["runs"]
expect("compare --csv", {key: row[key] for key in WHO}, WHO)
expect("compare --json", {key: compared[key] for key in WHO}, WHO)
expect("the total of compare", compared["total"], run["total"])
expect("launches", int(row["launches"]), len(launches))
assert filled(row) - {*WHO, "checked", "outcome", "speedup"} <= set(compared["total"]), "a column of compare --csv is no key of total"

first = write("first.yaml", """title: one, with an axis of each kind
run: {machine: gtx480, divergence: stack}
programs: [reduction, vecadd]
axes:
  - axis: scheduler
    values: [lrr, gto]
    with: {scheduler: $}
  - axis: 'a "quoted", axis'
    points: {'one "two"': {}}
measures:
  time: {of: cycles}
means: {mean: arithmetic}
""")
second = write("second.yaml", """title: another, with an axis of its own
run: {machine: gtx480, scheduler: gto}
axes:
  - axis: size
    values: [small, medium]
    with: {program: reduction, size: $}
  - axis: L1
    values: [16K]
    with: {set: {l1.size: $}}
measures:
  time: {of: cycles}
""")
third = write("third.yaml", "title: the file names the size\nrun: {size: small}\nprograms: [vecadd]\nmeasures: {time: {of: cycles}}\n")
heddle("sweep", first, second, third, "--size", "small", "--store", path("store.db"), "--csv", path("sweep.csv"), "--json", path("sweep.json"))
rows = rows_of("sweep.csv")
expect("the columns of a sweep", list(rows[0]),
       ["experiment", "measure", "size", "program", "scheduler", 'a "quoted", axis', "L1", "ours", "low", "high", "paper"])
mine = [row for row in rows if row["program"] == "reduction" and row["scheduler"] == "gto"]
expect("the run in a sweep", [(row["size"], row['a "quoted", axis'], row["L1"], int(row["ours"])) for row in mine],
       [("small", 'one "two"', "", run["total"]["cycles"])])
expect("an axis called size", [row["size"] for row in rows if row["experiment"] == "second"], ["small", "medium"])
expect("a size that the file names", [row["size"] for row in rows if row["experiment"] == "third"], ["small"])
expect("axes of another experiment", {row["program"] for row in rows if row["experiment"] == "second"}, {""})
values = [(experiment, value) for experiment in json_of("sweep.json") for value in experiment["values"]]
for row, (experiment, value) in zip(rows, values, strict=True):
    expect("sweep --json", (experiment["name"], value["measure"], value["ours"]), (row["experiment"], row["measure"], float(row["ours"])))
    expect("its axes", value["at"], {key: row[key] for key in value["at"]})

heddle("paper", "liu2023-fig1", "--store", path("store.db"), "--csv", path("paper.csv"))
expect("the columns of a paper", list(rows_of("paper.csv")[0]), ["experiment", "measure", "size", "scheduler", "ours", "low", "high", "paper"])

store = sqlite3.connect(path("store.db"))
store.row_factory = sqlite3.Row
kept = store.execute("SELECT * FROM results WHERE program = 'reduction' AND scheduler = 'gto' AND size = 'small' AND machine = 'gtx480'").fetchall()
assert any(dict(row)["cycles"] == run["total"]["cycles"] and {key: row[key] for key in WHO} == WHO for row in kept), "the store"

heddle("characterize", "reduction", "--size", "small", "-t", "malits2012", "--functional", "--csv", path("characterize.csv"))
write("card.csv", "workload,size,cycles\nreduction,small,9000\n")
heddle("validate", "h200", "--recording", path("card.csv"), "--set", "sm.count=8", "--csv", path("validate.csv"))
for name in ("characterize.csv", "validate.csv"):
    (row,) = rows_of(name)
    expect(name, (row["program"], row["size"]), ("reduction", "small"))
print("all good")
