#!/usr/bin/env python3
"""heddle_test.py HEDDLE LIBRARY: the Python module runs, sweeps, and executes kernels in this process."""
import array
import os
import sys
import tempfile

os.environ["HEDDLE"], os.environ["HEDDLE_LIBRARY"] = sys.argv[1], sys.argv[2]
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import heddle  # noqa: E402

TWICE = """.version 7.0
.target sm_70
.address_size 64
.visible .global .u32 calls;
.visible .entry twice(.param .u64 numbers, .param .f32 factor, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %rd<3>;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r0, %r1, %r2;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r3, %r4;
    @%p ret;
    ld.param.u64 %rd0, [numbers];
    mul.wide.u32 %rd1, %r3, 4;
    add.u64 %rd2, %rd0, %rd1;
    ld.global.f32 %f0, [%rd2];
    ld.param.f32 %f1, [factor];
    mul.rn.f32 %f0, %f0, %f1;
    st.global.f32 [%rd2], %f0;
    ret;
}
"""


def expect_error(words, call):
    try:
        call()
    except heddle.Error as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no error about '{words}'")


def test_run():
    first = heddle.run("vecadd", scheduler="gto", set={"sm.count": 4}, size="small")
    again = heddle.run("vecadd", scheduler="gto", set={"sm.count": 4}, size="small")
    assert first["total"]["cycles"] == again["total"]["cycles"] > 0
    assert first["total"]["cycles"] > heddle.run("vecadd", scheduler="gto")["total"]["cycles"]
    assert "cycles" not in heddle.run("vecadd", functional=True)["total"]
    expect_error("no workload and no file 'nosuch'", lambda: heddle.run("nosuch"))


def test_sweep():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mine.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("""title: two schedulers
run: {machine: gtx480}
programs: [vecadd]
axes:
  - axis: L1, KB
    values: [16, 32]
    with: {set: {l1.size: $K}}
  - axis: scheduler
    points:
      lrr: {scheduler: lrr}
      gto: {scheduler: gto}
measures:
  time: {of: cycles, title: cycles}
""")
        rows = heddle.sweep(path, size="small", store=os.path.join(folder, "store.db"))
    assert [(row["program"], row["L1, KB"], row["scheduler"]) for row in rows] == [
        ("vecadd", 16, "lrr"), ("vecadd", 16, "gto"), ("vecadd", 32, "lrr"), ("vecadd", 32, "gto")], rows
    assert list(rows[0]) == ["experiment", "measure", "size", "program", "L1, KB", "scheduler", "ours", "low", "high",
                             "paper"], rows
    assert all(row["size"] == "small" and row["ours"] > 1000 and row["paper"] is None for row in rows), rows


def test_device():
    numbers = array.array("f", range(1000))
    with heddle.Device() as gpu:
        module = gpu.load(TWICE, "twice.ptx")
        memory = gpu.malloc(4000)
        gpu.copy_to(memory, numbers)
        module.launch("twice", grid=4, block=256, arguments=[heddle.u64(memory), heddle.f32(2.5), heddle.u32(1000)])
        result = array.array("f", gpu.copy_from(memory, 4000))
        assert list(result) == [2.5 * n for n in range(1000)]
        assert gpu.counters()["launches"] == 1 and gpu.last_counters()["threads"] == 1024, gpu.counters()
        assert module.variable("calls")[1] == 4
        expect_error("no kernel", lambda: module.launch("thrice", 1, 1))
        expect_error("bad.ptx:1", lambda: gpu.load("nonsense", "bad.ptx"))
        gpu.free(memory)


def double(gpu):
    """Doubles a thousand numbers and returns the launch."""
    module, memory = gpu.load(TWICE), gpu.malloc(4000)
    gpu.copy_to(memory, array.array("f", range(1000)))
    launch = module.launch("twice", grid=4, block=256, arguments=[heddle.u64(memory), heddle.f32(2), heddle.u32(1000)])
    assert list(array.array("f", gpu.copy_from(memory, 4000))) == [2.0 * n for n in range(1000)]
    return launch


def test_timed_device():
    with heddle.Device("gtx480", scheduler="gto", set={"sm.count": 2}) as gpu:
        first, second = double(gpu), double(gpu)
        assert isinstance(first.cycles, int) and first.cycles > 100, first.cycles
        assert gpu.total()["cycles"] == first.cycles + second.cycles
        assert [launch.cycles for launch in gpu.launches()] == [first.cycles, second.cycles]
        assert first.statistics()["warp_instructions"] == first.warp_instructions > 0
        assert abs(first.ipc - first.thread_instructions / first.cycles) < 1e-9
        expect_error("did you mean 'cycles'?", lambda: first["cycle"])
        assert not hasattr(first, "nosuch")
    expect_error("closed", lambda: first["cycles"])
    with heddle.Device() as gpu:
        launch = double(gpu)
        assert "cycles" not in launch.statistics() and launch.threads == 1024
    expect_error("h200", lambda: heddle.Device("h2000"))


def test_table():
    rows = heddle.table(double, ["cycles", "threads"], machine=["gtx480"], scheduler=["lrr", "gto"],
                        set=[{}, {"l2.latency": 900}])
    assert rows[0] == ["machine", "scheduler", "set", "cycles", "threads"] and len(rows) == 5, rows
    assert all(row[4] == 1024 for row in rows[1:]), rows
    assert rows[2][3] > rows[1][3] + 500 and rows[4][3] > rows[3][3] + 500, rows


def test_wrong_places():
    """Before the library is loaded: what the variables name is no Heddle."""
    command, library = os.environ["HEDDLE"], os.environ["HEDDLE_LIBRARY"]
    os.environ["HEDDLE"] = "/nonexistent/heddle"
    expect_error("cannot run '/nonexistent/heddle'", lambda: heddle.run("vecadd"))
    for wrong in ("/nonexistent/libheddle.so", __file__, "libm.so.6"):
        os.environ["HEDDLE_LIBRARY"] = wrong
        expect_error("HEDDLE_LIBRARY can name another", heddle.Device)
    os.environ["HEDDLE"], os.environ["HEDDLE_LIBRARY"] = command, library


test_wrong_places()
test_device()
test_timed_device()
test_table()
test_run()
test_sweep()
print("all good")
