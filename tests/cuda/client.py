"""A client of the driver API that is no C program: Python calls libcuda.so.1 through ctypes, as array libraries and kernel compilers for
Python do. It writes its own PTX and uses streams, events, graphs, pools and libraries, and checks every number. Run it with
`heddle run python3 client.py`."""
import array
import ctypes
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

cuda = ctypes.CDLL("libcuda.so.1")
N, BLOCK = 4096, 128


class CudaError(Exception):
    """A call's result, by name."""


def call(name, *arguments):
    """Calls a function of the driver as cuGetProcAddress finds it, which is how such clients avoid old versions."""
    function, found = c_void_p(), c_int()
    cuda.cuGetProcAddress_v2(name.encode(), byref(function), 12000, c_uint64(0), byref(found))
    if not function.value:
        raise CudaError(f"{name}: not found")
    result = ctypes.CFUNCTYPE(c_int, *[type(argument) if not hasattr(argument, "_obj") else c_void_p
                                       for argument in arguments])(function.value)(
        *[ctypes.cast(argument, c_void_p) if hasattr(argument, "_obj") else argument for argument in arguments])
    if result != 0:
        text = c_char_p()
        cuda.cuGetErrorName(result, byref(text))
        raise CudaError(f"{name}: {text.value.decode()}")


def elementwise(name, expression):
    """Returns the PTX of a kernel y[i] = expression(x[i], a), for `expression` over %x, %a into %y."""
    return f""".version 7.8
.target sm_80
.address_size 64
.visible .entry {name}(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n)
{{
    .reg .pred %p; .reg .b32 %i<4>; .reg .b64 %d<4>; .reg .f32 %x, %y, %a;
    mov.u32 %i0, %ctaid.x; mov.u32 %i1, %ntid.x; mov.u32 %i2, %tid.x;
    mad.lo.u32 %i0, %i0, %i1, %i2;
    ld.param.u32 %i3, [n];
    setp.ge.u32 %p, %i0, %i3;
    @%p ret;
    ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; ld.param.f32 %a, [a];
    cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1;
    mul.wide.u32 %d2, %i0, 4;
    add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;
    ld.global.f32 %x, [%d0];
    ld.global.f32 %y, [%d1];
    {expression}
    st.global.f32 [%d1], %y;
    ret;
}}
"""


def load(name, expression):
    module, function = c_void_p(), c_void_p()
    call("cuModuleLoadData", byref(module), c_char_p(elementwise(name, expression).encode()))
    call("cuModuleGetFunction", byref(function), module, c_char_p(name.encode()))
    return function


class Arguments:
    """The parameters of a kernel, kept alive while a launch or a graph uses them."""

    def __init__(self, *values):
        self.values = values
        self.pointers = (c_void_p * len(values))(*[ctypes.addressof(value) for value in values])


def launch(function, stream, arguments):
    call("cuLaunchKernel", function, c_uint(-(-N // BLOCK)), c_uint(1), c_uint(1), c_uint(BLOCK), c_uint(1), c_uint(1),
         c_uint(0), stream, arguments.pointers, c_void_p())


def allocate(numbers):
    memory = c_uint64()
    call("cuMemAlloc", byref(memory), c_size_t(4 * N))
    upload(memory, numbers)
    return memory


def upload(memory, numbers):
    data = (c_float * N)(*numbers)
    call("cuMemcpyHtoD", memory, byref(data), c_size_t(4 * N))


def download(memory):
    data = (c_float * N)()
    call("cuMemcpyDtoH", byref(data), memory, c_size_t(4 * N))
    return list(data)


def expect(memory, values, what):
    found = download(memory)
    assert found == list(values), f"{what}: {found[:4]}..."


def test_streams_and_events(add, times):
    """Two streams work on one array; events order them and measure time."""
    first, second, done = c_void_p(), c_void_p(), c_void_p()
    begin, end, milliseconds = c_void_p(), c_void_p(), c_float()
    for stream in (first, second):
        call("cuStreamCreate", byref(stream), c_uint(1))
    for event in (done, begin, end):
        call("cuEventCreate", byref(event), c_uint(0))
    x, y = allocate(range(N)), allocate([1.0] * N)
    call("cuEventRecord", begin, first)
    launch(add, first, Arguments(y, x, c_float(2), c_uint(N)))  # y = 1 + 2 x
    call("cuEventRecord", done, first)
    call("cuStreamWaitEvent", second, done, c_uint(0))
    launch(times, second, Arguments(y, x, c_float(3), c_uint(N)))  # y = 3 y
    call("cuEventRecord", end, second)
    call("cuEventSynchronize", end)
    call("cuEventElapsedTime", byref(milliseconds), begin, end)
    expect(y, [3 * (1 + 2 * i) for i in range(N)], "streams")
    assert milliseconds.value > 0, milliseconds.value


def test_captured_graph(add, times):
    """A graph captured from a stream, instantiated once and launched three times."""
    stream, graph, executable, count = c_void_p(), c_void_p(), c_void_p(), c_size_t()
    call("cuStreamCreate", byref(stream), c_uint(1))
    x, y = allocate([1.0] * N), allocate([0.0] * N)
    call("cuStreamBeginCapture", stream, c_int(0))
    launch(add, stream, Arguments(y, x, c_float(5), c_uint(N)))  # y = y + 5
    launch(times, stream, Arguments(y, x, c_float(2), c_uint(N)))  # y = 2 y
    call("cuStreamEndCapture", stream, byref(graph))
    expect(y, [0.0] * N, "a capture must not run")
    call("cuGraphGetNodes", graph, c_void_p(), byref(count))
    assert count.value == 2, count.value
    call("cuGraphInstantiateWithFlags", byref(executable), graph, c_uint64(0))
    for _ in range(3):
        call("cuGraphLaunch", executable, stream)
    call("cuStreamSynchronize", stream)
    expect(y, [70.0] * N, "captured graph")  # 10, 30, 70


def test_pool(add):
    """Memory from the stream-ordered pool."""
    stream, y = c_void_p(), c_uint64()
    call("cuStreamCreate", byref(stream), c_uint(1))
    x = allocate([0.5] * N)
    call("cuMemAllocAsync", byref(y), c_size_t(4 * N), stream)
    call("cuMemsetD32Async", y, c_uint(0x40000000), c_size_t(N), stream)  # 2.0
    launch(add, stream, Arguments(y, x, c_float(4), c_uint(N)))
    call("cuStreamSynchronize", stream)
    expect(y, [4.0] * N, "pool")
    call("cuMemFreeAsync", y, stream)
    call("cuStreamSynchronize", stream)


def test_library():
    """Kernels of a library, which need no context, by their handles."""
    library, kernel, function = c_void_p(), c_void_p(), c_void_p()
    text = elementwise("square", "mul.rn.f32 %y, %x, %x;")
    call("cuLibraryLoadData", byref(library), c_char_p(text.encode()), c_void_p(), c_void_p(), c_uint(0), c_void_p(),
         c_void_p(), c_uint(0))
    call("cuLibraryGetKernel", byref(kernel), library, c_char_p(b"square"))
    call("cuKernelGetFunction", byref(function), kernel)
    x, y = allocate(range(N)), allocate([0.0] * N)
    launch(function, c_void_p(), Arguments(y, x, c_float(0), c_uint(N)))
    call("cuCtxSynchronize")
    squares = array.array("f", [float(i) * i for i in range(N)])
    expect(y, squares, "library")
    call("cuLibraryUnload", library)


def test_errors():
    """Mistakes come back as results, not as the end of the process."""
    module, function = c_void_p(), c_void_p()
    call("cuModuleLoadData", byref(module), c_char_p(elementwise("copy", "mov.f32 %y, %x;").encode()))
    for name, arguments, expected in (
            ("cuModuleGetFunction", (byref(function), module, c_char_p(b"nosuch")), "NOT_FOUND"),
            ("cuMemAlloc", (byref(c_uint64()), c_size_t(1 << 60)), "OUT_OF_MEMORY"),
            ("cuMemFree", (c_uint64(12345),), "INVALID_VALUE")):
        try:
            call(name, *arguments)
        except CudaError as error:
            assert expected in str(error), error
        else:
            raise AssertionError(f"{name} must fail")


def main():
    device, context, count = c_int(), c_void_p(), c_int()
    call("cuInit", c_uint(0))
    call("cuDeviceGetCount", byref(count))
    assert count.value == 1
    call("cuDeviceGet", byref(device), c_int(0))
    call("cuDevicePrimaryCtxRetain", byref(context), device)
    call("cuCtxSetCurrent", context)
    add, times = load("add", "fma.rn.f32 %y, %x, %a, %y;"), load("times", "mul.rn.f32 %y, %y, %a;")
    test_streams_and_events(add, times)
    test_captured_graph(add, times)
    test_pool(add)
    test_library()
    test_errors()
    print("client: verified")


main()
