#!/usr/bin/env python3
"""origins.py ROOT: compares the table "What is measured" of docs/machines.md with the files of these machines.

The first column names options, `group.*` all of a group that the machines set. A cell says where a machine's values come
from, and the comment in its file must say the same:
- measured: the mark [M],
- public: SOURCE, SOURCE: for each option the mark or the name of one source, and each source for some option,
- ours: the word,
- copied: the file has no line for the option, so that the value is h200's,
- others (scaled, not modelled, none): the file has a line, or switches the group off.
`; OPTION STATUS` after the first status holds for one option, `; STATUS` for all. An option with a mark needs a row.
"""
import re
import sys
from fnmatch import fnmatchcase

MARKS = {"white paper": "[W]", "programming guide": "[G]", "deviceQuery": "[D]", "Abdelkhalik 2022": "[A]",
         "Luo 2024": "[L]", "Sun 2022": "[S]"}
root = sys.argv[1]
faults = []


def read_machine(name):
    """The options that a machine's file sets: a value and a comment each, with that of the group."""
    options, group, of_group = {}, "", ""
    for line in open(f"{root}/machines/{name}.yaml"):
        match = re.match(r"( *)(\w+):\s*([^#]*?)\s*(?:#\s*(.*))?$", line)
        if not match:
            continue
        indent, key, value, comment = match.groups()
        if indent:
            options[f"{group}.{key}"] = (value, f"{of_group} {comment or ''}")
        elif value:
            options[key] = (value, comment or "")
        else:
            group, of_group = key, comment or ""
    return options


def read_table():
    text = open(f"{root}/docs/machines.md").read()
    lines = text.split("## What is measured")[1].split("## ")[0].split("| options |")[1].splitlines()
    machines = [name.strip() for name in lines[0].strip("| ").split("|")]
    rows = []
    for line in lines[2:]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        rows.append((re.findall(r"`([^`]+)`", cells[0].split(": ")[0]), dict(zip(machines, cells[1:]))))
    return machines, rows


def has_source(comment, source):
    return MARKS.get(source, source) in comment


def sources_of(status):
    names = [name.strip() for name in status.split(":", 1)[1].split(",")]
    return [name for name in names if not re.match(r"adjusted|of |in ", name)]


def check(machine, option, status, options, is_off):
    """Reports a status that the file does not confirm."""
    value, comment = options.get(option, (None, ""))
    if status == "copied":
        if value is not None:
            faults.append(f"{machine}: {option} is not copied: the file sets it")
        return
    if is_off:
        return
    if value is None:
        faults.append(f"{machine}: {option} is copied, but the table says '{status}'")
    elif status.startswith("measured") and "[M]" not in comment:
        faults.append(f"{machine}: {option} has no mark [M]")
    elif status.startswith("ours") and "ours" not in comment:
        faults.append(f"{machine}: {option} is not marked as ours")
    elif status == "none" and value != "0":
        faults.append(f"{machine}: {option} is not 0")
    elif status.startswith("public") and ":" in status:
        if not any(has_source(comment, source) for source in sources_of(status)):
            faults.append(f"{machine}: {option} does not name a source of '{status}'")


def check_row(machine, names, cell, options, first, wanted):
    statuses = [part.strip() for part in cell.split(";")]
    for option in wanted:
        key = option.split(".")[-1]
        own = [part for part in statuses[1:] if part.split()[0] == key]
        rest = [part for part in statuses[1:] if part.split()[0] not in {name.split(".")[-1] for name in wanted}]
        is_off = options.get(option.split(".")[0] + ".present", ("",))[0] == "false"
        for status in ([own[0].split(" ", 1)[1]] if own else [statuses[0]] + rest):
            check(machine, option, first if status == "public: the same" else status, options, is_off)
    for status in statuses:
        for source in sources_of(status) if status.startswith("public:") and status != "public: the same" else []:
            if not any(has_source(options.get(option, ("", ""))[1], source) for option in wanted):
                faults.append(f"{machine}: no option of {', '.join(names)} comes from '{source}'")


machines, rows = read_table()
files = {machine: read_machine(machine) for machine in machines}
known = {option for options in files.values() for option in options}
exact = {name for names, _ in rows for name in names if "*" not in name}
covered = set()
for names, cells in rows:
    wanted = sorted(option for option in known if not option.endswith(".present") for name in names
                    if option == name or ("*" in name and option not in exact and fnmatchcase(option, name)))
    for name in names:
        if "*" not in name and name not in known:
            faults.append(f"no machine sets {name}")
    for option in wanted:
        if option in covered:
            faults.append(f"{option} is in two rows")
    covered |= set(wanted)
    for machine in machines:
        check_row(machine, names, cells[machine], files[machine], cells[machines[0]], wanted)

for machine in machines:
    for option, (_, comment) in files[machine].items():
        is_marked = "[M]" in comment if machine == machines[0] else option not in ("extends", "name", "description")
        if is_marked and option not in covered and not option.endswith(".present"):
            faults.append(f"{machine}: {option} is in no row")
if len(covered) < 100:
    faults.append(f"the table covers only {len(covered)} options")
for fault in faults:
    print(f"origins: {fault}", file=sys.stderr)
sys.exit(bool(faults))
