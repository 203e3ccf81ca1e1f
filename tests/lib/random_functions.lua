-- Programs in CUDA of random functions of integers, which the host and the device compute: what the two compilers make of one text
-- must be the same. Nothing in them is undefined: sums are of unsigned numbers, shifts by less than their bits, divisors odd, and no
-- least number is divided by -1.
local ww = require "warpwright"

local random_functions = {}

local unsigned <const> = { "uint8_t", "uint16_t", "uint32_t", "uint64_t" }
local types <const> = { "int8_t", "int16_t", "int32_t", "int64_t", table.unpack(unsigned) }
local deepest <const> = 4

local Function = {}
Function.__index = Function

local function pick(self, list) return list[self.rng:int(1, #list)] end

--- Literals, variables that are in scope, elements of the array.
local function leaf(self)
  local what = self.rng:int(1, 5)
  if what == 1 then return tostring(self.rng:int(0, 40)) end
  if what == 2 then return ("0x%xu"):format(self.rng:int(0, 0xffffffff)) end
  if what == 3 then return ("a[%s & 7]"):format(pick(self, self.variables)) end
  return pick(self, self.variables)
end

-- Each %s is an expression, each %t a type, each %u an unsigned one, and %d one of the numbers behind the text.
local forms <const> = {
  { "((uint64_t)%s + (uint64_t)%s)" }, { "((uint64_t)%s - (uint64_t)%s)" }, { "((uint64_t)%s * (uint64_t)%s)" },
  { "((uint64_t)%s ^ (uint64_t)%s)" }, { "((uint64_t)%s & (uint64_t)%s)" }, { "((uint64_t)%s | (uint64_t)%s)" },
  { "(~(uint64_t)%s)" }, { "((%t)%s)" }, { "((uint64_t)%s << ((uint64_t)%s & 63))" }, { "((uint64_t)%s >> ((uint64_t)%s & %d))", 31, 63 },
  { "((uint32_t)%s << (%s & 31))" }, { "((int64_t)%s >> (%s & 63))" }, { "((int32_t)%s >> (%s & 31))" },
  { "((int64_t)(int32_t)%s << %d)", 8, 16, 31, 32 }, { "((int64_t)%s >> %d & 0xff)", 56, 60, 63 }, { "((int32_t)%s >> %d & 0xff)", 24, 28, 31 },
  { "((int32_t)(int16_t)%s << %d)", 8, 15, 16 }, { "((uint64_t)(uint32_t)%s << %d)", 15, 31, 32 }, { "((uint64_t)%s >> %d & 0xfff)", 20, 52, 60 },
  { "((int64_t)(int32_t)%s * (int64_t)(int32_t)%s)" }, { "((int64_t)(int32_t)%s * %d)", 3, -2147483648, 2147483648, -32768 },
  { "((uint64_t)(uint32_t)%s * (uint32_t)%s + (uint64_t)%s)" }, { "((uint32_t)%s * 0x80000001u + (uint32_t)%s)" },
  { "((int32_t)(int16_t)%s * (int32_t)(int16_t)%s)" }, { "((uint64_t)((int64_t)(int32_t)%s * (int32_t)%s) + (uint64_t)%s)" },
  { "rotate_left<%u>(%s, %s)" }, { "rotate_right<%u>(%s, %s)" },
  { "((%u)%s / ((%u)%s | 1))" }, { "((%u)%s %% ((%u)%s | 1))" }, { "((int64_t)(int32_t)%s / ((int64_t)(int16_t)%s | 1))" },
  { "((uint64_t)%s / %d)", 3, 7, 10, 641, 1000, 0xffffffff }, { "((uint64_t)%s %% %d)", 3, 7, 10, 255, 4294967297 },
  { "((int32_t)%s / %d)", 3, 10, 16, 641 }, { "((int32_t)%s %% %d)", 3, 10, 16, 1000 },
  { "((%t)%s < (%t)%s ? %s : %s)" }, { "((%t)%s == (%t)%s ? %s : %s)" }, { "((%t)%s >= (%t)%s && (%t)%s != 0)" },
  { "__builtin_popcountll(%s)" }, { "__builtin_clzll((uint64_t)%s | 1)" }, { "__builtin_ctz((uint32_t)%s | 0x800000)" }, { "__builtin_bswap64(%s)" },
  { "(uint64_t)((unsigned __int128)(uint64_t)%s * (uint64_t)%s >> %d)", 32, 64, 70 },
  { "(uint64_t)(int64_t)((double)(int32_t)%s + (double)(int32_t)%s)" }, { "(int32_t)((float)(int16_t)%s * (float)(int8_t)%s)" },
}

function Function:expression(depth)
  if depth >= deepest or self.rng:int(1, 4) == 1 then return leaf(self) end
  local form = pick(self, forms)
  return (form[1]:gsub("%%(.)", function(what)
    if what == "s" then return self:expression(depth + 1) end
    if what == "t" then return pick(self, types) end
    if what == "u" then return pick(self, unsigned) end
    return what == "d" and ("%d"):format(form[self.rng:int(2, #form)]) or "%"
  end))
end

--- The statements of a block; what they declare is not known behind it.
function Function:block(count, depth)
  local known, lines = #self.variables, {}
  for i = 1, count do lines[i] = self:statement(depth + 1) end
  for i = #self.variables, known + 1, -1 do self.variables[i] = nil end
  return table.concat(lines, "\n")
end

local statements = {
  function(self)
    self.declared = self.declared + 1
    local name, value, type = "v" .. self.declared, self:expression(0), pick(self, types)
    self.variables[#self.variables + 1] = name
    return ("%s %s = (%s)%s;"):format(type, name, type, value)
  end,
  function(self) return ("%s ^= %s;"):format(pick(self, self.variables), self:expression(0)) end,
  function(self) return ("a[%s & 7] = (uint32_t)%s;"):format(self:expression(1), self:expression(0)) end,
  function(self, depth)
    return ("if ((uint32_t)%s < (uint32_t)%s) {\n%s\n} else {\n%s\n}"):format(self:expression(1), self:expression(1), self:block(2, depth),
      self:block(1, depth))
  end,
  function(self, depth)
    self.loops = self.loops + 1
    local name = "i" .. self.loops
    return ("for (int %s = 0; %s < (int)((uint32_t)%s %% 5); %s++) {\n%s\nif ((uint32_t)%s %% 7 == 3) %s;\n}"):format(name, name, self:expression(1), name,
      self:block(2, depth), self:expression(2), pick(self, { "break", "continue" }))
  end,
  function(self, depth)
    local cases = {}
    for i = 1, self.rng:int(2, 5) do
      cases[i] = ("case %d: {\n%s\n} %s"):format(i, self:block(1, depth), pick(self, { "break;", "break;", "[[fallthrough]];" }))
    end
    return ("switch ((uint32_t)%s %% 7) {\n%s\ndefault: u++; }"):format(self:expression(1), table.concat(cases, "\n"))
  end,
  function(self) return ("if ((uint32_t)%s %% 23 == 5) return %s;"):format(self:expression(1), self:expression(1)) end,
}
local without_blocks <const> = 3 -- of these, from the first

function Function:statement(depth) return statements[self.rng:int(1, depth < 3 and #statements or without_blocks)](self, depth) end

local function definition(rng, number)
  local f = setmetatable({ rng = rng, variables = { "x", "t", "u" }, declared = 0, loops = 0 }, Function)
  local body = f:block(rng:int(5, 9), 0)
  return ([[
__host__ __device__ %s uint64_t f%d(uint64_t x, uint32_t t, uint32_t u) {
uint32_t a[8];
for (int i = 0; i < 8; i++) a[i] = (uint32_t)x * (i + 1);
%s
uint64_t hash = x ^ t ^ u;
for (int i = 0; i < 8; i++) hash = hash * 31 + a[i];
return hash;
}
]]):format(pick(f, { "", "__noinline__" }), number, body)
end

--- The text of a program that returns 0 where the device computes what the host does, of 96 arguments each; it names the functions of
-- which it does not.
function random_functions.program(seed, functions)
  local rng, parts, calls = ww.rng(seed), {}, {}
  for i = 1, functions do
    parts[i] = definition(rng, i)
    calls[i] = ("case %d: return f%d(t * 0x9e3779b97f4a7c15ull, t, t ^ %d);"):format(i, i, i)
  end
  return ([[
#include <cstdint>
#include <cstdio>
template <class T> __host__ __device__ T rotate_left(T x, uint64_t n) {
    const unsigned most = sizeof(T) * 8 - 1;
    return x << (n & most) | x >> (-n & most);
}
template <class T> __host__ __device__ T rotate_right(T x, uint64_t n) {
    const unsigned most = sizeof(T) * 8 - 1;
    return x >> (n & most) | x << (-n & most);
}
%s
__host__ __device__ uint64_t call(int function, uint32_t t) {
    switch (function) {
%s
    }
    return 0;
}
__global__ void all(uint64_t *out, int functions) {
    for (int f = 1; f <= functions; f++) out[f * 96 + threadIdx.x] = call(f, threadIdx.x);
}
int main() {
    const int functions = %d;
    uint64_t *out;
    int wrong = 0;
    cudaMallocManaged(&out, (functions + 1) * 96 * sizeof *out);
    all<<<1, 96>>>(out, functions);
    int error = cudaDeviceSynchronize();
    for (int f = 1; f <= functions; f++)
        for (uint32_t t = 0; t < 96; t++)
            if (out[f * 96 + t] != call(f, t)) {
                printf("f%%d differs, t = %%u\n", f, t);
                wrong++;
                break;
            }
    return error || wrong;
}
]]):format(table.concat(parts), table.concat(calls, "\n"), functions)
end

return random_functions
