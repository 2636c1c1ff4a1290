# Writes math.txt: exact values of the functions of math.cl, as hexadecimal doubles. Needs mpmath.
import struct
import mpmath as m

m.mp.dps = 60
pi = m.pi


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def cut(x):
    "Real result or NaN, as a double."
    if isinstance(x, m.mpc):
        if x.imag != 0:
            return float("nan")
        x = x.real
    try:
        return float(x)
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def root(x, n):
    if n == 0 or (x < 0 and n % 2 == 0):
        return m.nan
    r = m.root(abs(x), abs(n)) if x != 0 else m.mpf(0)
    if n < 0:
        r = 1 / r
    return -r if x < 0 else r



one = [
    m.acos, m.acosh, m.asin, m.asinh, m.atan, m.atanh, lambda x: root(x, 3), m.cos, m.cosh, m.cospi, m.erf, m.erfc, m.exp,
    lambda x: m.power(2, x), lambda x: m.power(10, x), m.expm1, m.log, lambda x: m.log(x, 2), m.log10, m.log1p,
    lambda x: 1 / m.sqrt(x), m.sin, m.sinh, m.sinpi, m.tan, m.tanh, m.gamma, lambda x: m.log(abs(m.gamma(x))),
    lambda x: m.acos(x) / pi, lambda x: m.asin(x) / pi, lambda x: m.atan(x) / pi, lambda x: m.sinpi(x) / m.cospi(x),
    lambda x: x * 180 / pi, lambda x: x * pi / 180, m.sqrt,
]
inputs = [1e-3, 0.1, 0.25, 0.5, 0.7, 0.999, 1.0, 1.0001, 1.3, 1.5, 2.0, 2.5, 3.0, 3.1415927, 1.5707964, 5.5, 9.75, 20.5, 33.3, 60.0, 87.5, 100.25,
          170.25, 700.5, 1e4, 1e6, 3e9, 1e20, 1e30, 1e-7, 1e-20, 1e-38, 1e-42]
inputs = [f32(x) for x in inputs]
inputs += [-x for x in inputs]


def safe(f, *args):
    try:
        return cut(f(*map(m.mpf, args)))
    except (ValueError, ZeroDivisionError):
        return float("nan")


def hexa(x):
    return "%x" % struct.unpack("<Q", struct.pack("<d", x))[0]


lines = []
for x in inputs:
    lines.append("one " + " ".join([hexa(x)] + [hexa(safe(f, x)) for f in one]))
pairs = [(0.5, 2.0), (2.0, 0.5), (2.0, 10.0), (10.0, -3.0), (1.1, 100.0), (0.9, -50.5), (3.7, 1.7), (1e10, 2.5), (1e-10, 3.5), (1.0001, 1e5), (7.0, 7.0),
         (123.456, 0.001), (1e20, 1.5), (0.3, 40.0), (5.0, 1e-8), (1e-20, 1e-20), (3e18, 4e18), (1e-3, 1e3)]
for x, y in pairs:
    x, y = f32(x), f32(y)
    lines.append("two " + " ".join(map(hexa, [x, y, safe(m.power, x, y), safe(m.power, x, y), safe(m.atan2, x, y), safe(m.hypot, x, y), safe(lambda a, b: m.atan2(a, b) / pi, x, y)])))
for x, y in [(-2.0, 3.0), (-2.0, -2.0), (-0.5, 5.0), (-1.5, 4.0), (-10.0, -0.75), (-1e-5, 1e5), (-3.0, 0.5)]:
    x, y = f32(x), f32(y)
    lines.append("two " + " ".join(map(hexa, [x, y, safe(m.power, x, y), float("nan"), safe(m.atan2, x, y), safe(m.hypot, x, y), safe(lambda a, b: m.atan2(a, b) / pi, x, y)])))
for x, n in [(2.0, 10), (1.5, -3), (-1.5, 3), (-2.0, -4), (0.1, 7), (10.0, 30), (1.01, 1000), (3.0, 1), (8.0, 3), (-8.0, 3), (-27.0, -3), (1e10, 2), (5.0, 0), (1e-10, 5), (16.0, -4), (-4.0, 2)]:
    x = f32(x)
    lines.append("whole " + " ".join(map(hexa, [x, float(n), safe(lambda a, b: m.power(a, int(b)), x, n), safe(lambda a, b: root(a, int(b)), x, n)])))
open("math.txt", "w").write("\n".join(lines) + "\n")
