"""Constants of PTX at random, with their values by the rules of the PTX ISA manual ("Constants", "Constant Expressions")."""
import struct

MASK = (1 << 64) - 1


def signed(bits):
    return bits - (1 << 64) if bits >> 63 else bits


def double_bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def single_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def literal(random):
    """An integer literal: text, 64 bits, whether it is unsigned."""
    value = random.choice([random.randrange(10), random.randrange(1 << 8), random.randrange(1 << 32), random.randrange(1 << 64)])
    form = random.choice(["d", "x", "X", "o", "b", "B"])
    text = {"d": "%d" % value, "x": "0x%x" % value, "X": "0X%X" % value, "o": "0%o" % value, "b": "0b" + bin(value)[2:],
            "B": "0B" + bin(value)[2:]}[form]
    is_unsigned = value >> 63 == 1
    if random.random() < 0.2:
        text, is_unsigned = text + "U", True
    return text, value, is_unsigned


def divide(a, b, is_unsigned, op):
    """C's division: towards zero."""
    if is_unsigned:
        return a // b if op == "/" else a % b
    x, y = signed(a), signed(b)
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return (quotient if op == "/" else x - quotient * y) & MASK


def binary(op, a, b):
    """The value of a op b, both (bits, is_unsigned); None where the manual has no value."""
    is_unsigned = a[1] or b[1]
    x, y = a[0], b[0]
    less = (lambda p, q: p < q) if is_unsigned else (lambda p, q: signed(p) < signed(q))
    if op in ("/", "%"):
        return None if y == 0 or (signed(y) == -1 and not is_unsigned) else (divide(x, y, is_unsigned, op), is_unsigned)
    if op in ("<<", ">>"):
        if y >= 64:
            return None
        return ((x << y if op == "<<" else x >> y if a[1] else signed(x) >> y) & MASK, a[1])
    claims = {"<": less(x, y), ">": less(y, x), "<=": not less(y, x), ">=": not less(x, y), "==": x == y, "!=": x != y,
              "&&": bool(x and y), "||": bool(x or y)}
    if op in claims:
        return int(claims[op]), False
    return ({"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y}[op] & MASK, is_unsigned)


STRENGTH = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]


def integer(random, depth=3, lowest=-1):
    """An integer constant expression of at least this strength of operators, -1 for "? :": text, 64 bits, whether it is unsigned."""
    kind = random.random()
    if depth == 0 or kind < 0.2:
        return literal(random) if random.random() < 0.9 else ("WARP_SZ", 32, False)
    if kind < 0.3:
        text, value, is_unsigned = integer(random, depth - 1)
        return "(" + text + ")", value, is_unsigned
    if kind < 0.4:
        text, value, _ = integer(random, depth - 1, 10)
        to = random.choice(["s64", "u64"])
        return "(." + to + ")" + text, value, to == "u64"
    if kind < 0.55:
        text, value, is_unsigned = integer(random, depth - 1, 10)
        op = random.choice("+-~!")
        if op == "!":
            return "!" + text, int(value == 0), False
        return op + " " * (text[0] == op) + text, {"+": value, "-": -value & MASK, "~": ~value & MASK}[op], is_unsigned
    if kind < 0.65 and lowest < 0:
        condition, yes, no = integer(random, depth - 1, 1), integer(random, depth - 1, 1), integer(random, depth - 1)
        chosen = yes if condition[1] else no
        return "%s ? %s : %s" % (condition[0], yes[0], no[0]), chosen[1], chosen[2]
    if lowest >= len(STRENGTH):
        return integer(random, 0)
    strength = random.randrange(max(lowest, 0), len(STRENGTH))
    op = random.choice(STRENGTH[strength])
    left, right = integer(random, depth - 1, strength), integer(random, depth - 1, strength + 1)
    if op in ("<<", ">>"):
        amount = random.randrange(64)
        right = random.choice(["%d", "0x%x", "%dU"]) % amount, amount, False
    result = binary(op, left[1:], right[1:])
    if result is None:
        return literal(random)
    space = " " if op == "%" or random.random() < 0.5 else ""
    return left[0] + space + op + space + (" " * (not space and right[0][0] == op) + right[0]), *result


def number(random):
    """A floating-point literal in decimal form: text and value."""
    text = random.choice(["%d.%d", "%d.", ".%d", "%d.%de%d", "%d.%dE+%d", "%de-%d", "%d.0e%d"])
    text = text % tuple(random.randrange(1, 20) for _ in range(text.count("%d")))
    return text, float(text)


def exact(random, is_double):
    """A floating-point literal as bits: text and bits."""
    bits = random.randrange(1 << (64 if is_double else 32))
    return random.choice(["0d%016x", "0D%016X"] if is_double else ["0f%08x", "0F%08X"]) % bits, bits


def floating(random, depth=2):
    """A floating-point constant expression: text and value."""
    if depth == 0 or random.random() < 0.2:
        return number(random)
    op = random.choice("+-*/")
    left, right = floating(random, 0), floating(random, depth - 1)
    if random.random() < 0.3:
        return "-(" + right[0] + ")", -right[1]
    x, y = left[1], right[1]
    if op == "/" and y == 0:
        return number(random)
    value = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y}[op]()
    return "%s %s (%s)" % (left[0], op, right[0]), value


def comparison(random):
    """Two floating-point numbers compared: text and truth."""
    left, right = number(random), number(random)
    op = random.choice(["<", ">", "<=", ">=", "==", "!="])
    x, y = left[1], right[1]
    claims = {"<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y, "==": x == y, "!=": x != y}
    return "%s %s %s" % (left[0], op, right[0]), int(claims[op])
