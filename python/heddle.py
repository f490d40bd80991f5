"""Heddle, a cycle-level GPU simulator, from Python: one file, nothing to install but Heddle itself.

    import heddle

    result = heddle.run("bfs", scheduler="gto", set={"l1.size": "32K"})
    print(result["total"]["cycles"])

    for row in heddle.sweep("my.yaml", size="small"):       # a column for each axis of the experiment
        print(row["program"], row["scheduler"], row["ours"])

    with heddle.Device() as gpu:                    # a simulated GPU in this process, without time
        module = gpu.load(open("kernels.ptx").read())
        numbers = gpu.malloc(4000)
        gpu.copy_to(numbers, data)
        module.launch("twice", grid=4, block=256, arguments=[heddle.u64(numbers), heddle.u32(1000)])
        data = gpu.copy_from(numbers, 4000)
        print(gpu.counters()["warp_instructions"])

run() and sweep() start the command `heddle`: $HEDDLE, or what the path finds. Device uses the library: $HEDDLE_LIBRARY, or the one beside the
command. Everything is returned as dictionaries of the names that docs/statistics.md explains.
"""

import csv
import ctypes
import ctypes.util
import glob
import json
import os
import shutil
import subprocess
import tempfile

__all__ = ["Error", "run", "sweep", "Device", "Module", "u8", "u16", "u32", "u64", "s32", "s64", "f32", "f64"]

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
        library.heddle_version
    except (OSError, AttributeError) as error:
        raise Error(f"not Heddle's library: {error}; the variable HEDDLE_LIBRARY can name another") from error
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    for name, result, parameters in (
            ("heddle_version", text, []),
            ("heddle_device_create", ctypes.c_int, [ctypes.POINTER(pointer), pointer]),
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
            ("heddle_last_counters", None, [pointer, ctypes.POINTER(_Counters), ctypes.c_size_t])):
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    _loaded = library
    return library


def version():
    """The release of the library, such as "0.1.0"."""
    return _library().heddle_version().decode()


def _shape(size):
    sizes = (size,) if isinstance(size, int) else tuple(size)
    return (u32 * 3)(*(sizes + (1, 1, 1))[:3])


class Device:
    """A simulated GPU that executes kernels without time. Use it in a `with`, or close() it."""

    def __init__(self):
        self._library, self._handle = _library(), ctypes.c_void_p()
        if self._library.heddle_device_create(ctypes.byref(self._handle), None) != 0:
            raise Error("the device cannot be created")

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

    def counters(self):
        """What all launches so far took."""
        return self._read(self._library.heddle_counters)

    def last_counters(self):
        """What the last launch took."""
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
        """Runs a kernel to its end. Arguments have the types of its parameters: heddle.u64(address), heddle.f32(2.5)."""
        values = (ctypes.c_void_p * max(1, len(arguments)))(
            *[ctypes.cast(ctypes.pointer(argument), ctypes.c_void_p) for argument in arguments])
        launch = _Launch(_shape(grid), _shape(block), shared_bytes, len(arguments), values)
        self._device._check(self._device._library.heddle_launch(self._device._handle, self._handle, kernel.encode(),
                                                                ctypes.byref(launch)))
