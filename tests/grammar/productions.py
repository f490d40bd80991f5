"""Programs from the grammar of PTX at random. Each production of the manual is a function that adds declarations and statements to
a program and returns the 64 bits that its statements leave in %v: chapters 4 to 7 (syntax, variables, operands, calls) and 11
(directives). The values follow from the manual; arrays indexed by registers, sums and
ignored operands from NVIDIA's assembler."""
import struct

import constants
from constants import MASK

BYTES = {"u8": 1, "s8": 1, "b8": 1, "u16": 2, "s16": 2, "b16": 2, "u32": 4, "s32": 4, "b32": 4, "f32": 4, "u64": 8, "s64": 8, "b64": 8,
         "f64": 8}
INTEGERS = [name for name in BYTES if name[0] != "f"]


class Program:
    """A module with one kernel, run by one thread."""

    def __init__(self, random):
        self.random = random
        self.declarations, self.body, self.values, self.registers = [], [], [], []
        self.n_names = 0

    def name(self, prefix=""):
        self.n_names += 1
        return self.random.choice(["", "_", "$"]) + (prefix or self.random.choice("abx")) + "%s%d" % (self.random.choice(["", "_", "$"]), self.n_names) + "n"

    def register(self, kind):
        name = self.random.choice(["%", "", "$"]) + "r%dq" % self.next()
        self.registers.append(".reg .%s %s;" % (kind, name))
        return name

    def next(self):
        self.n_names += 1
        return self.n_names

    def say(self, *statements):
        self.body.extend(statements)


def truncated(value, bytes_):
    return value & ((1 << 8 * bytes_) - 1)


def packed(kind, random):
    """A value to initialise a variable of a type with: text and bits."""
    if kind[0] == "f":
        is_double = kind == "f64"
        if random.random() < 0.3:
            return constants.exact(random, is_double)
        text, value = constants.floating(random)
        return text, constants.double_bits(value) if is_double else constants.single_bits(value)
    text, value, _ = constants.integer(random, 2)
    return text, truncated(value, BYTES[kind])


def load(p, space, bytes_, address):
    p.say("ld%s.u%d %%v, [%s];" % ("." + space if space else "", 8 * bytes_, address))


# --- constants ---

def integer_literal(p):
    text, value, _ = constants.literal(p.random)
    p.say("mov.%s %%v, %s;" % (p.random.choice(["b64", "u64", "s64"]), text))
    return value


def integer_expression(p):
    text, value, _ = constants.integer(p.random)
    if p.random.random() < 0.5:
        p.say("mov.b64 %%v, %s;" % text)
        return value
    p.say("mov.u64 %v, 17;", "add.s64 %%v, %%v, %s;" % text)
    return value + 17 & MASK


def narrow_immediate(p):
    text, value, _ = constants.integer(p.random, 1)
    r = p.register("b32")
    p.say("mov.u32 %s, 5;" % r, "xor.b32 %s, %s, %s;" % (r, r, text), "cvt.u64.u32 %%v, %s;" % r)
    return truncated(value, 4) ^ 5


def floating_literal(p):
    if p.random.random() < 0.5:
        r = p.register("f64")
        text, bits = constants.exact(p.random, True) if p.random.random() < 0.3 else constants.number(p.random)
        p.say("mov.f64 %s, %s;" % (r, text), "mov.b64 %%v, %s;" % r)
        return bits if isinstance(bits, int) else constants.double_bits(bits)
    r, s = p.register("f32"), p.register("b32")
    text, bits = constants.exact(p.random, False) if p.random.random() < 0.3 else constants.number(p.random)
    p.say("mov.f32 %s, %s;" % (r, text), "mov.b32 %s, %s;" % (s, r), "cvt.u64.u32 %%v, %s;" % s)
    return bits if isinstance(bits, int) else constants.single_bits(bits)


def floating_expression(p):
    r = p.register("f64")
    text, value = constants.floating(p.random)
    p.say("mov.f64 %s, %s;" % (r, text), "mov.b64 %%v, %s;" % r)
    return constants.double_bits(value)


def floating_comparison(p):
    text, value = constants.comparison(p.random)
    p.say("mov.u64 %%v, %s;" % text)
    return value


# --- variables and initialisers ---

def alignment(p, kind, space):
    """The words before a variable's name, with the alignment before the space, after it or not at all."""
    align = ".align %d" % p.random.choice([BYTES[kind], 8, 16, 128])
    place = p.random.random()
    linkage = p.random.choice(["", "", ".visible ", ".weak "]) if space != "local" else ""
    if place < 0.2:
        return "%s%s .%s .%s" % (linkage, align, space, kind)
    return "%s.%s %s .%s" % (linkage, space, align if place < 0.5 else "", kind)


def scalar(p):
    kind, space, x = p.random.choice(list(BYTES)), p.random.choice(["global", "const"]), p.name()
    text, bits = packed(kind, p.random)
    p.declarations.append("%s %s = %s;" % (alignment(p, kind, space), x, text))
    load(p, space, BYTES[kind], x)
    return bits


def declarators(p):
    kind, names = p.random.choice(INTEGERS), [p.name() for _ in range(3)]
    text, bits = packed(kind, p.random)
    p.declarations.append(".global .%s %s, %s[2] = {1, %s}, %s;" % (kind, names[0], names[1], text, names[2]))
    load(p, "global", BYTES[kind], "%s+%d" % (names[1], BYTES[kind]))
    return bits


def nested(p, kind, shape, values):
    """Braces for the dimensions of an array; lists may end early. Fills the values of the elements."""
    random = p.random
    if len(shape) == 1:
        items = [packed(kind, random) for _ in range(random.randint(1, shape[0]))]
        values += [bits for _, bits in items] + [0] * (shape[0] - len(items))
        return "{" + ", ".join(text for text, _ in items) + "}"
    size = 1
    for n in shape[1:]:
        size *= n
    n_items = random.randint(1, shape[0])
    text = "{" + ", ".join(nested(p, kind, shape[1:], values) for _ in range(n_items)) + "}"
    values += [0] * (size * (shape[0] - n_items))
    return text


def array(p):
    random = p.random
    kind, space, x = random.choice(list(BYTES)), random.choice(["global", "const"]), p.name()
    shape, values = [random.randint(1, 4) for _ in range(random.randint(1, 3))], []
    text = nested(p, kind, shape, values)
    p.declarations.append("%s %s%s = %s;" % (alignment(p, kind, space), x, "".join("[%d]" % n for n in shape), text))
    at = random.randrange(len(values))
    load(p, space, BYTES[kind], "%s+%d" % (x, at * BYTES[kind]))
    return values[at]


def open_array(p):
    kind, x, n = p.random.choice(INTEGERS), p.name(), p.random.randint(1, 5)
    items = [packed(kind, p.random) for _ in range(n)]
    p.declarations.append(".global .%s %s[] = {%s};" % (kind, x, ", ".join(text for text, _ in items)))
    load(p, "global", BYTES[kind], "%s+%d" % (x, (n - 1) * BYTES[kind]))
    return items[-1][1]


def vector_variable(p):
    width = p.random.choice([2, 4])
    kind = p.random.choice([k for k in BYTES if BYTES[k] * width <= 16])
    x, items = p.name(), [packed(kind, p.random) for _ in range(width)]
    p.declarations.append(".global .v%d .%s %s = {%s};" % (width, kind, x, ", ".join(text for text, _ in items)))
    at = p.random.randrange(width)
    load(p, "global", BYTES[kind], "%s+%d" % (x, at * BYTES[kind]))
    return items[at][1]


def table(p, space="global", kind="u32", n=8):
    """An array with random values; returns its name and values."""
    x, values = p.name(), [p.random.randrange(1 << 8 * BYTES[kind]) for _ in range(n)]
    p.declarations.append(".%s .%s %s[%d] = {%s};" % (space, kind, x, n, ", ".join(map(str, values))))
    return x, values


def address_initialiser(p):
    space = p.random.choice(["global", "const"])
    x, values = table(p, space)
    pointer, at = p.name(), p.random.randrange(8)
    is_generic = p.random.random() < 0.5 or space == "const"
    base = "generic(%s)" % x if is_generic else x
    offset = p.random.choice(["+%d" % (4 * at), "+4*%d" % at, "+(%d<<2)" % at]) if at else ""
    p.declarations.append(".global .u64 %s[2] = {0, %s};" % (pointer, base + offset))
    p.say("ld.global.u64 %%v, [%s+8];" % pointer, "ld%s.u32 %%v, [%%v];" % ("" if is_generic else "." + space))
    return values[at]


def mask_of_address(p):
    x, _ = table(p)
    y, offset, b = p.name(), p.random.choice(["", "+8"]), p.register("b64")
    masks = ["0xFF" + "00" * i + "(" + x + offset + ")" for i in range(8)]
    p.declarations.append(".global .align 8 .u8 %s[8] = {%s};" % (y, ", ".join(masks)))
    p.say("ld.global.u64 %%v, [%s];" % y, "mov.u64 %s, %s%s;" % (b, x, offset), "sub.u64 %%v, %%v, %s;" % b)
    return 0


def mask_of_integer(p):
    kind, y, shift = p.random.choice(INTEGERS), p.name(), p.random.randrange(8)
    text, value, _ = constants.integer(p.random, 2)
    p.declarations.append(".global .%s %s = 0xFF%s(%s);" % (kind, y, "00" * shift, text))
    load(p, "global", BYTES[kind], y)
    return value >> 8 * shift & 0xff


def extern_then_defined(p):
    x, value = p.name(), p.random.randrange(1 << 32)
    p.declarations += [".extern .global .u32 %s;" % x, ".visible .global .u32 %s = %d;" % (x, value)]
    load(p, "global", 4, x)
    return value


# --- operands ---

def offset_text(random, offset):
    return random.choice(["+%d" % offset, "+ 0x%x" % offset, "+%d*%d" % (4, offset // 4) if offset % 4 == 0 else "+%d" % offset,
                          "+(%d)" % offset, "+%d+%d" % (offset // 2, offset - offset // 2)])


def address_register(p):
    x, values = table(p)
    r, at = p.register("b64"), p.random.randrange(8)
    p.say("mov.u64 %s, %s;" % (r, x + offset_text(p.random, 16)))
    load(p, "global", 4, r + ("+-%d" % (16 - 4 * at) if at < 4 else offset_text(p.random, 4 * at - 16)))
    return values[at]


def address_variable(p):
    space = p.random.choice(["global", "const"])
    x, values = table(p, space)
    at = p.random.randrange(8)
    load(p, space if space == "const" else p.random.choice(["", "global"]), 4, x + offset_text(p.random, 4 * at))
    return values[at]


def place_for(p, space, kind):
    """An array in any space whose elements are known; returns its name and values."""
    if space in ("global", "const"):
        return table(p, space, kind)
    x, values = p.name(), [p.random.randrange(1 << 8 * BYTES[kind]) for _ in range(8)]
    (p.declarations if space == "shared" and p.random.random() < 0.5 else p.registers).append(".%s .%s %s[8];" % (space, kind, x))
    for i, value in enumerate(values):
        p.say("mov.u64 %%v, %d;" % value, "st.%s.u%d [%s+%d], %%v;" % (space, 8 * BYTES[kind], x, i * BYTES[kind]))
    return x, values


def element(p):
    space, kind = p.random.choice(["global", "const", "shared", "local"]), p.random.choice(["u8", "u16", "u32", "u64"])
    x, values = place_for(p, space, kind)
    at = p.random.randrange(8)
    index = p.random.choice(["%d" % at, "0x%x" % at, "%d + %d" % (at - at // 2, at // 2)])
    if p.random.random() < 0.5:
        p.say("ld.%s.%s %%v, %s[%s];" % (space, kind, x, index))
    else:
        p.say("mov.u64 %%v, %s[%s];" % (x, index), "ld.%s.%s %%v, [%%v];" % (space, kind))
    return values[at]


def element_by_register(p):
    space, kind = p.random.choice(["global", "const", "shared", "local"]), p.random.choice(["u8", "u16", "u32", "u64"])
    x, values = place_for(p, space, kind)
    at, wide = p.random.randrange(8), p.random.choice(["u32", "s32", "b32", "u64", "s64", "b64"])
    r, more = p.register(wide), p.random.choice([0, 1, 3, -2])
    text = r if more == 0 else r + "+%d" % more
    p.say("mov.%s %s, %d;" % (wide, r, at - more))
    way = p.random.random()
    if way < 0.4:
        p.say("ld.%s.%s %%v, %s[%s];" % (space, kind, x, text))
        return values[at]
    if way < 0.6 and space != "const":
        new = p.random.randrange(1 << 8 * BYTES[kind])
        p.say("mov.u64 %%v, %d;" % new, "st.%s.%s %s[%s], %%v;" % (space, kind, x, text), "mov.u64 %v, 0;")
        load(p, space, BYTES[kind], "%s+%d" % (x, at * BYTES[kind]))
        return new
    if way < 0.8:
        p.say("cvta.%s.u64 %%v, %s[%s];" % (space, x, text), "ld.%s %%v, [%%v];" % kind)
        return values[at]
    p.say("mov.u64 %%v, %s[%s];" % (x, text), "ld.%s.%s %%v, [%%v];" % (space, kind))
    return values[at]


def packing(p):
    a, b = p.register("b32"), p.register("b32")
    x, y = p.random.randrange(1 << 32), p.random.randrange(1 << 32)
    p.say("mov.b64 {%s, %s}, %d;" % (a, b, x << 32 | y))
    way = p.random.random()
    if way < 0.3:
        p.say("mov.b64 %%v, {%s, %s};" % (b, a))
        return y << 32 | x
    if way < 0.6:
        p.say("mov.b64 {_, %s}, %d;" % (b, y << 32 | x), "cvt.u64.u32 %%v, %s;" % b)
        return y
    p.say("mov.b32 {%s}, %s;" % (b, a), "cvt.u64.u32 %%v, %s;" % b)
    return y


def vector_register(p):
    v, values = "r%dq" % p.next(), [p.random.randrange(1 << 32) for _ in range(4)]
    p.registers.append(".reg .v4 .b32 %s;" % v)
    at = p.random.randrange(4)
    p.say("mov.v4.b32 %s, {%s};" % (v, ", ".join(map(str, values))) if p.random.random() < 0.5 else
          "".join("mov.b32 %s.%s, %d;" % (v, "xyzw"[i], values[i]) for i in range(4)),
          "cvt.u64.u32 %%v, %s.%s;" % (v, p.random.choice(["xyzw", "rgba"])[at]))
    return values[at]


def register_range(p):
    prefix, n = p.random.choice(["%", "", "$"]) + "k%dq" % p.next(), p.random.randint(2, 9)
    value = p.random.randrange(1 << 64)
    p.registers.append(".reg .b64 %s<%d>, %s_other;" % (prefix, n, prefix))
    p.say("mov.u64 %s%d, %d;" % (prefix, n - 1, value), "mov.u64 %s_other, %s%d;" % (prefix, prefix, n - 1),
          "mov.u64 %%v, %s_other;" % prefix)
    return value


def special_register(p):
    name, value = p.random.choice([("%tid.x", 0), ("%ntid.x", 1), ("%ctaid.y", 0), ("%nctaid.z", 1), ("%laneid", 0), ("%lanemask_eq", 1),
                                   ("%lanemask_ge", 0xffffffff), ("%ntid.w", 0), ("%pm3", None), ("%envreg7", None)])
    r = p.register("u32")
    p.say("mov.u32 %s, %s;" % (r, name), "cvt.u64.u32 %%v, %s;" % r)
    if value is None:
        p.say("mov.u64 %v, 3;")
    return 3 if value is None else value


def wide_special(p):
    p.say("mov.u64 %%v, %s;" % p.random.choice(["%clock64", "%globaltimer", "%gridid", "%pm2_64"]), "mul.lo.u64 %v, %v, 0;")
    return 0


def old_grid(p):
    r = p.register("b32")
    p.say("mov.%s %s, %%gridid;" % (p.random.choice(["u32", "b32"]), r), "cvt.u64.u32 %%v, %s;" % r, "and.b64 %v, %v, 0;")
    return 0


def sum_of_register(p):
    kind = p.random.choice(["u16", "b16", "s16", "u32", "b32", "s32", "u64", "b64", "s64"])
    bits, r, value, addend = 8 * BYTES[kind], p.register(kind), p.random.randrange(1 << 16), p.random.randrange(1 << 16)
    text = p.random.choice([offset_text(p.random, addend), "+-%d" % addend])
    result = truncated(value - addend if text.startswith("+-") else value + addend, bits // 8)
    p.say("mov.%s %s, %d;" % (kind, r, value), "cvt.u64.u%d %%v, %s%s;" % (bits, r, text) if bits < 64 else
          p.random.choice(["mov.u64 %%v, %s%s;", "add.u64 %%v, %s%s, 0;"]) % (r, text))
    return result


def ignored_operand(p):
    a, b, d = (p.register("u32") for _ in range(3))
    x, y = p.random.randrange(1 << 16), p.random.randrange(1 << 16)
    name, result = p.random.choice([("vadd.u32.u32.u32", x + y), ("vabsdiff.u32.u32.u32", abs(x - y)), ("vmax.u32.u32.u32", max(x, y)),
                                    ("vset.u32.u32.lt", int(x < y))])
    p.say("mov.u32 %s, %d;" % (a, x), "mov.u32 %s, %d;" % (b, y), "%s %s, %s, %s, %s;" % (name, d, a, b, p.random.choice([a, b])),
          "cvt.u64.u32 %%v, %s;" % d)
    return result


# --- statements ---

def guard(p):
    q, taken = p.register("pred"), p.random.randrange(2)
    p.say("setp.eq.u32 %s, %d, 1;" % (q, taken), "mov.u64 %v, 1;",
          p.random.choice(["@%s mov.u64 %%v, 2;", "@ %s  mov.u64 %%v, 2;"]) % q, "@!%s add.u64 %%v, %%v, 8;" % q)
    return 2 if taken else 9


def predicate_pair(p):
    a, b, c = (p.register("pred") for _ in range(3))
    x, y = p.random.randrange(4), p.random.randrange(4)
    first, second = p.random.choice([(a, b), (a, "_"), ("_", b)])
    p.say("setp.ne.u32 %s, 0, 0;" % c, "setp.ne.u32 %s, 0, 0;" % a, "setp.ne.u32 %s, 0, 0;" % b)
    p.say("setp.lt.and.u32 %s|%s, %d, %d, !%s;" % (first, second, x, y, c), "mov.u64 %v, 0;", "@%s or.b64 %%v, %%v, 1;" % a,
          "@%s or.b64 %%v, %%v, 2;" % b)
    return (int(x < y) if first == a else 0) | (2 * int(x >= y) if second == b else 0)


def scopes(p):
    x, y, name = p.random.randrange(1 << 32), p.random.randrange(1 << 32), "s%dq" % p.next()
    label = p.name("L")
    p.say("{ .reg .b64 %s; mov.u64 %s, %d; { .reg .b32 %s; mov.u32 %s, %d; bra %s; %s: } mov.u64 %%v, %s; }" % (
        name, name, x, name, name, y, label, label, name))
    return x


def branches(p):
    n, i, q, again, done = p.random.randint(1, 9), p.register("u32"), p.register("pred"), p.name("L"), p.name("L")
    p.say("mov.u32 %s, 0;" % i, "mov.u64 %v, 0;", "%s: add.u64 %%v, %%v, 3;" % again, "add.u32 %s, %s, 1;" % (i, i),
          "setp.ge.u32 %s, %s, %d;" % (q, i, n), "@%s bra %s;" % (q, done), "bra%s %s;" % (p.random.choice(["", ".uni"]), again),
          "%s:" % done)
    return 3 * n


def switch(p):
    labels, end, targets, i = [p.name("L") for _ in range(3)], p.name("L"), p.name("T"), p.register("u32")
    at = p.random.randrange(3)
    p.say("mov.u32 %s, %d;" % (i, at), "%s: .branchtargets %s;" % (targets, ", ".join(labels)), "brx.idx %s, %s;" % (i, targets))
    for k, label in enumerate(labels):
        p.say("%s: mov.u64 %%v, %d;" % (label, 10 + k), "bra %s;" % end)
    p.say("%s:" % end)
    return 10 + at


def call_by_register(p):
    f, x = p.name("f"), p.random.randrange(1 << 32)
    linkage = p.random.choice(["", ".visible ", ".weak "])
    if p.random.random() < 0.3:
        p.declarations.append("%s.func (.reg .u64 d) %s (.reg .u64 a, .reg .u32 b);" % (linkage, f))
    p.declarations.append("%s.func (.reg .u64 d) %s (.reg .u64 a, .reg .u32 b) { .reg .u64 w; cvt.u64.u32 w, b; add.u64 d, a, w; ret; }" % (
        linkage, f))
    r = p.register("u32")
    p.say("mov.u32 %s, 7;" % r, "call%s (%%v), %s, (%s, %s);" % (p.random.choice(["", ".uni"]), f, p.random.choice([str(x), "%d + 0" % x]), r))
    return x + 7


def call_by_parameter(p):
    f, x, y = p.name("f"), p.random.randrange(1 << 32), p.random.randrange(1 << 32)
    p.declarations.append(".func (.param .b64 d) %s (.param .align 8 .b8 a[16]) { .reg .u64 w, u; ld.param.u64 w, [a]; "
                          "ld.param.u64 u, [a+8]; sub.u64 w, w, u; st.param.b64 [d+0], w; ret; }" % f)
    p.say("{ .param .align 8 .b8 in[16]; .param .b64 out; mov.u64 %%v, %d; st.param.u64 [in], %%v; st.param.b64 [in+8], %d; "
          "call (out), %s, (in); ld.param.u64 %%v, [out]; }" % (x, y, f))
    return x - y & MASK


def call_without_result(p):
    f = p.name("f")
    p.declarations.append(".func %s%s { ret; }" % (f, p.random.choice(["", "()", " ( ) "])))
    p.say("mov.u64 %v, 4;", p.random.choice(["call %s;", "call %s, ();", "call.uni %s;", "@%%always call %s;"]) % f)
    return 4


def call_indirect(p):
    f, g, label, target, which = p.name("f"), p.name("f"), p.name("P"), p.register("b64"), p.random.randrange(2)
    for k, name in enumerate((f, g)):
        p.declarations.append(".func (.param .u32 d) %s (.param .u32 a) { .reg .u32 w; ld.param.u32 w, [a]; add.u32 w, w, %d; "
                              "st.param.u32 [d], w; ret; }" % (name, 100 * (k + 1)))
    kind = p.random.choice([".callprototype (.param .u32 _) _ (.param .u32 _)", ".calltargets %s, %s" % (f, g)])
    p.say("mov.u64 %s, %s;" % (target, (f, g)[which]), "{ .param .u32 in, out; %s: %s; st.param.u32 [in], 5; call (out), %s, (in), %s; "
          "ld.param.u32 %%v, [out]; }" % (label, kind, target, label))
    return 105 + 100 * which


def text_between(p):
    value = p.random.randrange(1 << 16)
    p.say(p.random.choice(["// a comment ; }\n", "/* several\n lines */", ".loc 1 7 3\n", ".pragma \"nounroll\";", "\n#line 5 \"a.cu\"\n", "{ }",
                           "\n# 12 \"b.cu\" 1\n"]))
    p.say("mov.u64 %%v,%s%d;" % (p.random.choice(["", " ", "\n", "\t", "/**/", "//x\n"]), value))
    return value


PRODUCTIONS = [
    integer_literal, integer_expression, narrow_immediate, floating_literal, floating_expression, floating_comparison, scalar, declarators,
    array, open_array, vector_variable, address_initialiser, mask_of_address, mask_of_integer, extern_then_defined, address_register,
    address_variable, element, element_by_register, packing, vector_register, register_range, special_register, wide_special, old_grid,
    sum_of_register, ignored_operand, guard, predicate_pair, scopes, branches, switch, call_by_register, call_by_parameter, call_without_result, call_indirect, text_between]


def directives(random):
    """Words between a kernel's parameters and its body."""
    bounds = random.choice(["", ".maxntid 32", ".maxntid 32, 1", ".maxntid 0x20, 1, 1", ".reqntid 1", ".reqntid 1, 1, 1"])
    more = random.choice(["", ".maxnreg 64", ".minnctapersm 1", ".pragma \"abc\";"])
    return bounds + ("" if more == ".minnctapersm 1" and not bounds else " " + more)


def program(random, n_items, productions=PRODUCTIONS):
    """The text of a program with the comments of tests/runner/kernel_test.h, and the names of its productions."""
    p, used = Program(random), []
    for i in range(n_items):
        production = random.choice(productions)
        used.append(production.__name__)
        p.values.append(production(p))
        p.say("st.global.u64 [%%out + %d], %%v;" % (8 * i))
    version, target = random.choice([("7.8", "sm_90"), ("8.0", "sm_80"), ("8.8", "sm_90"), ("9.0", "sm_75"), ("8.3", "sm_52"), ("7.8", "sm_90, texmode_independent")])
    head = "// arg: out u64[%d]\n// launch: grid 1 1 1 block 1 1 1\n// expect: out = %s\n" % (n_items, " ".join("0x%x" % v for v in p.values))
    text = ".version %s\n.target %s\n.address_size 64\n.file 1 \"a.cu\"\n" % (version, target) + "\n".join(p.declarations)
    text += "\n.visible .entry k(.param .u64 %s out_pointer) %s\n{\n" % (random.choice(["", ".ptr", ".ptr .global .align 8"]), directives(random))
    text += ".reg .b64 %v, %out; .reg .pred %always;\n" + "\n".join(p.registers)
    text += "\nld.param.u64 %out, [out_pointer];\nsetp.eq.u32 %always, 0, 0;\n" + "\n".join(p.body) + "\nret;\n}\n"
    return head + text, used
