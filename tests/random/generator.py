"""Random kernels in OpenCL C. A seed gives a kernel, the same one in every version of Python.

What they compute is defined: unsigned arithmetic, shifts and divisors masked, every index inside its array, memory
written before it is read, barriers in uniform flow only, atomics that commute and whose results nobody looks at, floats
added, subtracted and multiplied only, no bits of a NaN and no sign of a zero looked at.
"""

import random

INPUTS = 256  # words that every kernel reads
COUNTERS = 8
OUT = 6  # 32-bit words of an item
TABLE = 16

HEAD = """#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
typedef struct { uint a; ushort b; uchar c; float f; uint4 v; } Pack;
__constant uint table[16] = {3u, 0x80000000u, 7u, 0xffffffffu, 12u, 0u, 0x12345678u, 9u,
                             0xdeadbeefu, 1u, 2u, 0x7fffffffu, 255u, 256u, 65535u, 0x55555555u};
float clean(float f) { return isnan(f) ? 7.0f : f + 0.0f; }
double clean64(double d) { return isnan(d) ? 7.0 : d + 0.0; }
uint whole(float f) { return isnan(f) ? 5u : convert_uint_sat(f); }
uint whole64(double d) { return isnan(d) ? 5u : (uint)convert_int_sat(d); }
"""

UINT_BINARY = [
    "({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} & {b})", "({a} | {b})", "({a} ^ {b})",
    "({a} << ({b} & 31u))", "({a} >> ({b} & 31u))", "(uint)(as_int({a}) >> ({b} & 31u))",
    "({a} / ({b} | 1u))", "({a} % ({b} | 1u))",
    "(uint)(as_int({a}) / (int)(({b} & 0x7fffu) | 1u))", "(uint)(as_int({a}) % (int)(({b} & 0x7fffu) | 1u))",
    "min({a}, {b})", "max({a}, {b})", "(uint)min(as_int({a}), as_int({b}))", "mul_hi({a}, {b})",
    "(uint)mul_hi(as_int({a}), as_int({b}))", "rotate({a}, {b})", "abs_diff({a}, {b})", "add_sat({a}, {b})",
    "sub_sat({a}, {b})", "(uint)add_sat(as_int({a}), as_int({b}))", "hadd({a}, {b})", "rhadd({a}, {b})",
    "(uint)upsample((ushort)({a}), (ushort)({b}))", "(uint)(((ulong)({a}) * (ulong)({b})) >> 17)",
    "(uint)convert_ushort_sat({a} + {b})", "mad_hi({a}, {b}, 5u)", "mul24({a} & 0xffffu, {b} & 0xffu)",
]
UINT_UNARY = [
    "(~{a})", "(0u - {a})", "popcount({a})", "clz({a})", "(uint)(uchar)({a})", "(uint)(short)({a})", "(uint)(char)({a})",
    "(uint)convert_uchar_sat({a})", "(uint)convert_char_sat(as_int({a}))", "(uint)abs(as_int({a}))",
    "(uint)as_short((ushort)({a}))", "(uint)(((long)as_int({a})) >> 3)", "(uint)(as_uchar4({a}).s2)",
    "(uint)(as_ushort2({a}).s1)", "as_uint(as_uchar4({a}).wzyx)",
]


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines = []
        self.depth = 1
        self.names = 0
        self.uniform = True  # all work-items of the group are here together
        self.barriers = self.r.random() < 0.5
        self.loops = 0
        self.left = self.r.randint(8, 30)
        self.group = self.r.choice([1, 4, 7, 8, 16, 24, 32, 64])
        self.groups = self.r.choice([1, 2, 3, 5])
        self.calls = self.r.random() < 0.6

    def emit(self, text):
        self.lines.append("    " * self.depth + text)

    def name(self):
        self.names += 1
        return f"t{self.names}"

    # Expressions.

    def uint(self, depth=3):
        r = self.r
        if depth == 0 or r.random() < 0.15:
            return r.choice([
                "x0", "x1", "x2", "x3", "gid", "lid", "n", f"{r.choice([0, 1, 2, 3, 7, 31, 255, r.getrandbits(32)])}u",
                "v.x", "v.w", "p.a", "(uint)p.b", "(uint)p.c", "p.v.y",
            ])
        kind = r.random()
        a, b = self.uint(depth - 1), None
        if kind < 0.45:
            b = self.uint(depth - 1)
            return r.choice(UINT_BINARY).format(a=a, b=b)
        if kind < 0.6:
            return r.choice(UINT_UNARY).format(a=a)
        if kind < 0.7:
            return f"({self.condition(depth - 1)} ? {a} : {self.uint(depth - 1)})"
        if kind < 0.78:
            return f"in[({a}) & {INPUTS - 1}u]"
        if kind < 0.83:
            return f"in[(gid + {r.randint(0, 40)}u) & {INPUTS - 1}u]"
        if kind < 0.88:
            return f"array[({a}) & 7u]"
        if kind < 0.91:
            return f"table[({a}) & 15u]"
        if kind < 0.94:
            return f"(uint)({self.ulong(depth - 1)} >> {r.choice([0, 7, 32])})"
        if kind < 0.96:
            return f"whole({self.float(depth - 1)})"
        if kind < 0.97:
            return f"whole64({self.double(depth - 1)})"
        if self.calls:
            return f"helper{r.randint(0, 1)}({a}, {self.uint(depth - 1)}, array)"
        return f"bitselect({a}, {self.uint(depth - 1)}, {self.uint(depth - 1)})"

    def ulong(self, depth=2):
        r = self.r
        if depth == 0 or r.random() < 0.2:
            return r.choice(["y", f"{r.getrandbits(64)}ul", "(ulong)x0", "(ulong)as_int(x1)", "upsample(x2, x3)"])
        a, b = self.ulong(depth - 1), self.ulong(depth - 1)
        return r.choice([
            "({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} ^ {b})", "({a} & {b})", "({a} << ({b} & 63ul))",
            "({a} >> ({b} & 63ul))", "(ulong)(as_long({a}) >> ({b} & 63ul))", "({a} / ({b} | 1ul))", "max({a}, {b})",
            "mul_hi({a}, {b})", "rotate({a}, {b})", "popcount({a})", "clz({a})", "(as_long({a}) < as_long({b}) ? {a} : {b})",
            "add_sat({a}, {b})", "(ulong)((long)convert_int_sat(as_long({a})))",
        ]).format(a=a, b=b)

    def float(self, depth=2):
        r = self.r
        if depth == 0 or r.random() < 0.2:
            return r.choice(["f", "p.f", f"{r.choice([0.5, 1.0, -3.25, 1e10, 1e-6, 0.1])}f", "(float)(x0 & 0xffffu)", "(float)as_int(x1)"])
        a, b = self.float(depth - 1), self.float(depth - 1)
        return r.choice([
            "({a} + {b})", "({a} - {b})", "({a} * {b})", "fabs({a})", "floor({a})", "trunc({a})", "({a} < {b} ? {a} : {b})",
            "(-({a}))", "(float)(double)({a})", "rint({a})", "ceil({a})", "fma({a}, {b}, 1.5f)", "(float){u}",
        ]).format(a=a, b=b, u=self.uint(1))

    def double(self, depth=2):
        r = self.r
        if depth == 0 or r.random() < 0.2:
            return r.choice(["d", "(double)f", "0.1", "(double)x2", "(double)as_long(y)"])
        a, b = self.double(depth - 1), self.double(depth - 1)
        return r.choice(["({a} + {b})", "({a} - {b})", "({a} * {b})", "fabs({a})", "floor({a})", "({a} > {b} ? {a} : {b})",
                         "fma({a}, {b}, -0.5)"]).format(a=a, b=b)

    def vector(self, depth=2):
        r = self.r
        if depth == 0 or r.random() < 0.2:
            return r.choice(["v", "p.v", "(uint4)(x0, x1, x2, x3)", "(uint4)(gid)", f"vload4((x1 & {INPUTS // 4 - 1}u), in)"])
        a, b = self.vector(depth - 1), self.vector(depth - 1)
        return r.choice([
            "({a} + {b})", "({a} * {b})", "({a} ^ {b})", "({a} - {b})", "({a}).wzyx", "({a}).xxyy", "({a} >> ({b} & 31u))",
            "max({a}, {b})", "(uint4)(({a}).odd, ({b}).even)", "select({a}, {b}, {a} > {b})", "shuffle2({a}, {b}, (uint4)(0, 5, 2, 7))",
            "rotate({a}, {b})", "convert_uint4(convert_uchar4_sat({a}))", "as_uint4(as_ulong2({a}) + as_ulong2({b}))",
        ]).format(a=a, b=b)

    def condition(self, depth=2):
        r = self.r
        kind = r.random()
        if kind < 0.5:
            return f"({self.uint(depth)} {r.choice(['<', '>', '==', '!=', '<=', '>='])} {self.uint(depth)})"
        if kind < 0.7:
            return f"(as_int({self.uint(depth)}) < as_int({self.uint(depth)}))"
        if kind < 0.8:
            return f"(({self.uint(depth)} & {r.choice([1, 2, 3, 4])}u) == 0u)"
        if kind < 0.87:
            return f"({self.float(1)} {r.choice(['<', '>='])} {self.float(1)})"
        if kind < 0.92:
            # Not any(): clang compiles it to invalid SPIR-V.
            return f"({self.vector(1)}).{r.choice('xyzw')} != ({self.vector(1)}).{r.choice('xyzw')}"
        return f"({self.condition(1)} {r.choice(['&&', '||'])} {self.condition(1)})"

    def uniform_uint(self):
        return self.r.choice(["n", f"{self.r.randint(0, 5)}u", "(uint)get_group_id(0)", "table[n & 15u]", f"in[n & {INPUTS - 1}u]"])

    # Statements.

    def block(self, uniform, statements):
        before, self.uniform = self.uniform, self.uniform and uniform
        self.depth += 1
        for _ in range(statements):
            self.statement()
        self.depth -= 1
        self.uniform = before

    def statement(self):
        r = self.r
        self.left -= 1
        deep = self.depth > 4 or self.left <= 0
        kind = r.random()
        if deep or kind < 0.36:
            self.assign()
        elif kind < 0.5:
            together = r.random() < 0.25
            self.emit(f"if ({self.uniform_uint()} & 1u) {{" if together else f"if ({self.condition()}) {{")
            self.block(together, r.randint(1, 3))
            if r.random() < 0.5:
                self.emit("} else {")
                self.block(together, r.randint(1, 3))
            self.emit("}")
        elif kind < 0.64:
            self.loop()
        elif kind < 0.7:
            self.emit(f"switch ({self.uint(2)} % 5u) {{")
            for case in range(r.randint(2, 4)):
                self.emit(f"case {case}u:")
                self.block(False, r.randint(1, 2))
                if r.random() < 0.7:
                    self.emit("    break;")
            self.emit("default:")
            self.block(False, 1)
            self.emit("}")
        elif kind < 0.78:
            self.emit(f"array[({self.uint(2)}) & 7u] = {self.uint(2)};")
        elif kind < 0.86:
            which = r.randrange(COUNTERS)
            # Not max and min: below -O2 clang leaves them as calls of functions that nothing defines.
            name = ["add", "xor", "sub", "add", "or", "and", "sub", "xor"][which]
            self.emit(f"atomic_{name}(&counters[{which}], {self.uint(1)});")
        elif self.barriers and self.uniform and self.loops < 2:
            self.exchange()
        else:
            self.assign()

    def assign(self):
        r = self.r
        kind = r.random()
        if kind < 0.55:
            self.emit(f"{r.choice(['x0', 'x1', 'x2', 'x3'])} {r.choice(['=', '=', '+=', '^='])} {self.uint()};")
        elif kind < 0.65:
            self.emit(f"y = {self.ulong()};")
        elif kind < 0.75:
            self.emit(f"f = clean({self.float()});")
        elif kind < 0.8:
            self.emit(f"d = clean64({self.double()});")
        elif kind < 0.92:
            self.emit(f"v = {self.vector()};")
        else:
            field = r.choice(["a", "b", "c", "v"])
            value = {"a": self.uint(2), "b": f"(ushort)({self.uint(2)})", "c": f"(uchar)({self.uint(2)})", "v": self.vector(1)}[field]
            self.emit(f"p.{field} = {value};")

    def loop(self):
        r = self.r
        i = self.name()
        together = r.random() < 0.35
        bound = f"({self.uniform_uint()} & 3u) + 1u" if together else f"{self.uint(2)} & 7u"
        self.emit(f"for (uint {i} = 0u, end{i} = {bound}; {i} < end{i}; {i}++) {{")
        self.loops += 1
        self.block(together, r.randint(1, 3))
        if not (together and self.barriers) and r.random() < 0.5:
            self.emit(f"    if ({self.condition(1)}) {r.choice(['break', 'continue'])};")
            self.emit(f"    x{r.randrange(4)} += {i};")
        self.loops -= 1
        self.emit("}")

    def exchange(self):
        r = self.r
        self.emit(f"shared[lid] = {self.uint(2)};")
        self.emit("barrier(CLK_LOCAL_MEM_FENCE);")
        self.emit(f"x{r.randrange(4)} ^= shared[(lid + {r.randint(1, 9)}u) % {self.group}u];")
        if r.random() < 0.4:
            self.emit(f"if (({self.uint(1)}) & 1u) x{r.randrange(4)} += shared[({self.uint(1)}) % {self.group}u];")
        self.emit("barrier(CLK_LOCAL_MEM_FENCE);")

    def source(self, name):
        r = self.r
        body = []
        for i in range(2):
            op = r.choice(["+", "^", "*"])
            body.append(
                f"{r.choice(['__attribute__((noinline)) ', ''])}uint {name}_helper{i}(uint a, uint b, const uint *array) {{\n"
                f"    uint s = a {op} {r.getrandbits(8)}u;\n"
                f"    for (uint i = 0u; i < (b & 3u); i++) {{ s = s * 31u + array[(s + i) & 7u]; if (s & 64u) return s ^ b; }}\n"
                f"    return s;\n}}\n"
            )
        self.lines = []
        self.emit("uint gid = (uint)get_global_id(0), lid = (uint)get_local_id(0);")
        self.emit(f"uint x0 = in[gid & {INPUTS - 1}u], x1 = gid * {r.getrandbits(16)}u, x2 = lid + 1u, x3 = n;")
        self.emit(f"ulong y = ((ulong)x0 << 32) | x1; float f = (float)(x0 & 1023u); double d = (double)x1; uint array[8];")
        self.emit("uint4 v = (uint4)(x0, x1, x2, x3);")
        self.emit("for (uint i = 0u; i < 8u; i++) array[i] = in[(gid + i) & 255u];")
        if self.barriers:
            self.emit(f"__local uint shared[{self.group}];")
        while self.left > 0:
            self.statement()
        self.emit(f"__global uint *to = out + gid * {OUT}u;")
        self.emit("to[0] = x0 ^ array[x1 & 7u]; to[1] = x1 + p.a + p.b + p.c; to[2] = x2 ^ (uint)y ^ (uint)(y >> 32);")
        self.emit("to[3] = x3 ^ v.x ^ rotate(v.y, 7u) ^ rotate(v.z, 13u) ^ rotate(v.w + p.v.x, 19u);")
        self.emit("outf[gid] = clean(f); outd[gid] = clean64(d);")
        self.emit("to[4] = array[0] + array[3]; to[5] = array[7] ^ array[5];")
        text = "\n".join(self.lines).replace("helper0(", f"{name}_helper0(").replace("helper1(", f"{name}_helper1(")
        return (
            "".join(body)
            + f"__kernel void {name}(__global const uint *in, __global uint *out, __global float *outf, __global double *outd,\n"
            f"        __global uint *counters, uint n, Pack p) {{\n{text}\n}}\n"
        )


def kernel(seed, name):
    """Source of the kernel, items of a group, groups."""
    generator = Generator(seed)
    return generator.source(name), generator.group, generator.groups


def inputs(seed):
    """The words that the kernel of that seed reads, n, and the struct's fields."""
    r = random.Random(seed ^ 0xABCD)
    words = [r.choice([r.getrandbits(32), r.randrange(16), r.randrange(1000), 0xFFFFFFFF - r.randrange(8)]) for _ in range(INPUTS)]
    fields = (r.getrandbits(32), r.getrandbits(16), r.getrandbits(8), float(r.randrange(-99, 99)), [r.getrandbits(32) for _ in range(4)])
    return words, r.getrandbits(5), fields
