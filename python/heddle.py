"""Heddle, a cycle-level GPU simulator, from Python: one file, nothing to install but Heddle itself.

    import heddle

    result = heddle.run("bfs", scheduler="gto", set={"l1.size": "32K"})
    print(result["total"]["cycles"])

    for row in heddle.sweep("my.yaml", size="small"):       # a column for each axis of the experiment
        print(row["program"], row["scheduler"], row["ours"])

    with heddle.Device("gtx480", scheduler="gto") as gpu:       # a simulated GPU in this process
        module = gpu.load(open("kernels.ptx").read())
        numbers = gpu.malloc(4000)
        gpu.copy_to(numbers, data)
        launch = module.launch("twice", grid=4, block=256, arguments=[heddle.u64(numbers), heddle.u32(1000)])
        data = gpu.copy_from(numbers, 4000)
        print(launch.cycles, launch.ipc)

    print(heddle.table(work, ["cycles", "ipc"], scheduler=["lrr", "gto"], divergence=["stack", "dwf"]))

run() and sweep() start the command `heddle`: $HEDDLE, or the one in the path. Device and table() use the library: $HEDDLE_LIBRARY, or the
one beside the command. docs/statistics.md explains the names of statistics.
"""

import csv
import ctypes
import ctypes.util
import glob
import itertools
import json
import math
import os
import shutil
import subprocess
import tempfile

__all__ = ["Error", "run", "sweep", "table", "Device", "Module", "Launch", "u8", "u16", "u32", "u64", "s32", "s64", "f32", "f64"]

u8, u16, u32, u64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64
s32, s64, f32, f64 = ctypes.c_int32, ctypes.c_int64, ctypes.c_float, ctypes.c_double


class Error(Exception):
    """What Heddle said, in its words."""


# ---- The command ---------------------------------------------------------------------------------------------------


def _command():
    found = os.environ.get("HEDDLE") or shutil.which("heddle")
    if not found:
        raise Error("no command 'heddle'; the variable HEDDLE can name it")
    return found


def _start(words, output, after=()):
    """Runs the command with an option that writes a file, and returns the file's text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "output")
        try:
            ended = subprocess.run([_command(), *words, output, path, *after], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, check=False)
        except OSError as error:
            raise Error(f"cannot run '{_command()}', which the variable HEDDLE names: {error.strerror}") from error
        if ended.returncode != 0 or not os.path.exists(path):
            raise Error(ended.stderr.strip() or f"heddle ended with status {ended.returncode}")
        with open(path, encoding="utf-8") as file:
            return file.read()


def run(program, arguments=(), machine=None, scheduler=None, divergence=None, set=None, size=None, functional=False,
        options=()):
    """Runs a workload, a CUDA program or a PTX file, and returns its statistics.

    `set` has options of the machine, `arguments` are the program's own, `options` any others of `heddle run`."""
    words = ["run", program]
    for name, value in (("--machine", machine), ("--scheduler", scheduler), ("--divergence", divergence),
                        ("--size", size)):
        if value is not None:
            words += [name, str(value)]
    for key, value in (set or {}).items():
        words += ["--set", f"{key}={value}"]
    if functional:
        words.append("--functional")
    words += [str(option) for option in options]
    after = ["--", *[str(argument) for argument in arguments]] if arguments else []
    return json.loads(_start(words, "--json", after))


def sweep(file, size=None, store=None, options=()):
    """Runs an experiment of one's own (docs/experiments.md) and returns a dictionary for each value.

    Its keys are "experiment", "measure", "size", the name of each axis ("program" is the first), "ours", "low", "high" and "paper".
    Numbers are numbers, and what is absent is None. Runs that the store has are not repeated."""
    words = ["sweep", str(file)]
    for name, value in (("--size", size), ("--store", store)):
        if value is not None:
            words += [name, str(value)]
    text = _start([*words, *[str(option) for option in options]], "--csv")
    return [{name: _number(value) for name, value in row.items()} for row in csv.DictReader(text.splitlines())]


def _number(text):
    if text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


# ---- The library ---------------------------------------------------------------------------------------------------


class _Launch(ctypes.Structure):
    _fields_ = [("grid", u32 * 3), ("block", u32 * 3), ("shared_bytes", u32), ("n_arguments", u32),
                ("arguments", ctypes.POINTER(ctypes.c_void_p))]


class _Settings(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("memory_bytes", u64), ("max_instructions", u64),
                ("timeout_seconds", f64), ("machine", ctypes.c_char_p), ("scheduler", ctypes.c_char_p),
                ("divergence", ctypes.c_char_p), ("set", ctypes.POINTER(ctypes.c_char_p)), ("host_threads", u32)]


class _Counters(ctypes.Structure):
    _fields_ = [(name, u64) for name in ("launches", "blocks", "threads", "warp_instructions", "thread_instructions",
                                         "branches", "divergent_branches", "memory_instructions", "barriers")]


def _find_library():
    named = os.environ.get("HEDDLE_LIBRARY")
    if named:
        return named
    found = os.environ.get("HEDDLE") or shutil.which("heddle")
    root = os.path.dirname(os.path.dirname(os.path.realpath(found))) if found else None
    for pattern in ("lib*/libheddle.so.*", "lib/*/libheddle.so.*", "src/libheddle.so.*", "libheddle.so.*"):
        matches = sorted(glob.glob(os.path.join(root, pattern))) if root else []
        if matches:
            return matches[0]
    return ctypes.util.find_library("heddle")


_loaded = None


def _library():
    """Loads it once, with the types of its functions."""
    global _loaded
    if _loaded:
        return _loaded
    path = _find_library()
    if not path:
        raise Error("no library libheddle; the variable HEDDLE_LIBRARY can name it")
    try:
        library = ctypes.CDLL(path)
        library.heddle_statistic
    except (OSError, AttributeError) as error:
        raise Error(f"not Heddle's library: {error}; the variable HEDDLE_LIBRARY can name another") from error
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    for name, result, parameters in (
            ("heddle_version", text, []),
            ("heddle_device_create", ctypes.c_int, [ctypes.POINTER(pointer), ctypes.POINTER(_Settings)]),
            ("heddle_device_destroy", None, [pointer]),
            ("heddle_last_error", text, [pointer]),
            ("heddle_malloc", ctypes.c_int, [pointer, u64, ctypes.POINTER(u64)]),
            ("heddle_free", ctypes.c_int, [pointer, u64]),
            ("heddle_copy_to", ctypes.c_int, [pointer, u64, pointer, u64]),
            ("heddle_copy_from", ctypes.c_int, [pointer, pointer, u64, u64]),
            ("heddle_module_load", ctypes.c_int, [pointer, text, text, ctypes.c_size_t, ctypes.POINTER(pointer)]),
            ("heddle_module_unload", None, [pointer, pointer]),
            ("heddle_module_variable", ctypes.c_int,
             [pointer, pointer, text, ctypes.POINTER(u64), ctypes.POINTER(u64)]),
            ("heddle_launch", ctypes.c_int, [pointer, pointer, text, ctypes.POINTER(_Launch)]),
            ("heddle_counters", None, [pointer, ctypes.POINTER(_Counters), ctypes.c_size_t]),
            ("heddle_last_counters", None, [pointer, ctypes.POINTER(_Counters), ctypes.c_size_t]),
            ("heddle_launch_count", u32, [pointer]),
            ("heddle_statistic_name", text, [u32]),
            ("heddle_statistic", ctypes.c_int, [pointer, u32, text, ctypes.POINTER(f64)])):
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    _loaded = library
    return library


def version():
    """The version of the library, as `heddle --version` prints it."""
    return _library().heddle_version().decode()


def _shape(size):
    sizes = (size,) if isinstance(size, int) else tuple(size)
    return (u32 * 3)(*(sizes + (1, 1, 1))[:3])


def _statistics():
    """Returns the names of all statistics."""
    names = (_library().heddle_statistic_name(i) for i in itertools.count())
    return [name.decode() for name in itertools.takewhile(lambda name: name is not None, names)]


def _text(value):
    return None if value is None else str(value).encode()


class Device:
    """A simulated GPU. Use it in a `with`, or close() it.

    Without arguments kernels execute functionally. With a machine (a name or a YAML file), a scheduler, a divergence
    model or options of the machine (`set`), they are timed. `threads` of the host run a timed launch; their number
    never changes a result."""

    def __init__(self, machine=None, scheduler=None, divergence=None, set=None, threads=0, max_instructions=0,
                 timeout=0.0):
        self._library, self._handle = _library(), ctypes.c_void_p()
        options = [f"{key}={value}".encode() for key, value in (set or {}).items()]
        settings = _Settings(ctypes.sizeof(_Settings), 0, max_instructions, timeout, _text(machine), _text(scheduler),
                             _text(divergence), (ctypes.c_char_p * (len(options) + 1))(*options, None), threads)
        if self._library.heddle_device_create(ctypes.byref(self._handle), ctypes.byref(settings)) != 0:
            raise Error(self._library.heddle_last_error(None).decode() or "the device cannot be created")
        self.is_timed = any(value is not None for value in (machine, scheduler, divergence)) or bool(options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._library.heddle_device_destroy(self._handle)
        self._handle = ctypes.c_void_p()

    def _check(self, status):
        if status != 0:
            raise Error(self._library.heddle_last_error(self._handle).decode())

    def malloc(self, size):
        """Returns the address of zeroed memory of the device."""
        address = u64()
        self._check(self._library.heddle_malloc(self._handle, size, ctypes.byref(address)))
        return address.value

    def free(self, address):
        self._check(self._library.heddle_free(self._handle, address))

    def copy_to(self, address, data):
        """Copies bytes, or anything with a buffer (array.array, numpy), to the device."""
        data = bytes(memoryview(data).cast("B"))
        self._check(self._library.heddle_copy_to(self._handle, address, data, len(data)))

    def copy_from(self, address, size):
        """Returns bytes of the device's memory."""
        data = ctypes.create_string_buffer(size)
        self._check(self._library.heddle_copy_from(self._handle, data, address, size))
        return data.raw

    def load(self, ptx, name="module"):
        """Loads PTX and returns a Module. An Error lists every mistake with its line."""
        return Module(self, ptx, name)

    def launches(self):
        """Returns all launches so far, in order."""
        return [Launch(self, i + 1) for i in range(self._library.heddle_launch_count(self._handle))]

    def total(self):
        """Returns the statistics of all launches together, as a Launch."""
        return Launch(self, 0)

    def counters(self):
        """Returns the counters of all launches so far."""
        return self._read(self._library.heddle_counters)

    def last_counters(self):
        """Returns the counters of the last launch."""
        return self._read(self._library.heddle_last_counters)

    def _read(self, function):
        counters = _Counters()
        function(self._handle, ctypes.byref(counters), ctypes.sizeof(counters))
        return {name: getattr(counters, name) for name, _ in counters._fields_}


class Module:
    """Kernels and variables; from Device.load()."""

    def __init__(self, device, ptx, name):
        self._device, self._handle = device, ctypes.c_void_p()
        text = ptx.encode() if isinstance(ptx, str) else ptx
        device._check(device._library.heddle_module_load(device._handle, name.encode(), text, len(text),
                                                         ctypes.byref(self._handle)))

    def variable(self, name):
        """Returns the address and the size of a variable."""
        address, size = u64(), u64()
        self._device._check(self._device._library.heddle_module_variable(
            self._device._handle, self._handle, name.encode(), ctypes.byref(address), ctypes.byref(size)))
        return address.value, size.value

    def launch(self, kernel, grid, block, arguments=(), shared_bytes=0):
        """Runs a kernel to its end and returns its Launch.

        Arguments have the types of its parameters: heddle.u64(address), heddle.f32(2.5)."""
        device, library = self._device, self._device._library
        values = (ctypes.c_void_p * max(1, len(arguments)))(
            *[ctypes.cast(ctypes.pointer(argument), ctypes.c_void_p) for argument in arguments])
        launch = _Launch(_shape(grid), _shape(block), shared_bytes, len(arguments), values)
        device._check(library.heddle_launch(device._handle, self._handle, kernel.encode(), ctypes.byref(launch)))
        return Launch(device, library.heddle_launch_count(device._handle))


class Launch:
    """The statistics of a launch, by name: launch.cycles or launch["cycles"]. Valid until its device is closed."""

    def __init__(self, device, number):
        self._device, self._number = device, number

    def __getitem__(self, name):
        if not self._device._handle:
            raise Error("the device is closed")
        value = f64()
        self._device._check(self._device._library.heddle_statistic(self._device._handle, self._number, name.encode(),
                                                                   ctypes.byref(value)))
        if math.isnan(value.value):
            return None
        return int(value.value) if value.value == int(value.value) else value.value

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except Error as error:
            raise AttributeError(str(error)) from error

    def statistics(self):
        """Returns all statistics that this device has, as a dictionary."""
        found = {}
        for name in _statistics():
            try:
                found[name] = self[name]
            except Error:  # only timed devices have it
                pass
        return found


# ---- Tables --------------------------------------------------------------------------------------------------------


def table(work, statistics=("cycles",), **axes):
    """Calls work(device) on a new device for each combination of the axes, and returns a table.

    An axis is a list of values for an argument of Device: machine=["gtx480", "h200"], set=[{"l1.size": "16K"}, {}].
    The table is a list of rows. The first row holds the headings: the axes, then the statistics of all launches."""
    rows = [[*axes, *statistics]]
    for values in itertools.product(*axes.values()):
        with Device(**dict(zip(axes, values))) as device:
            work(device)
            total = device.total()
            rows.append([*values, *[total[name] for name in statistics]])
    return rows
