-- The pseudo-random interleaved cache: the paper's tables as test vectors, its arithmetic for any number of sets, and what an
-- L1 makes of it.
local ww = require "warpwright"
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local pric = require "policies.pric"

-- The arithmetic ---------------------------------------------------------------------------------------------------------

local function parity(bits)
  local sum = 0
  while bits ~= 0 do bits, sum = bits & (bits - 1), sum ~ 1 end
  return sum
end

--- The set index that masks make of an address.
local function index(masks, address)
  local set = 0
  for i, mask in ipairs(masks) do set = set | parity(mask & address) << (i - 1) end
  return set
end

--- The product of two polynomials over GF(2).
local function product(a, b)
  local sum = 0
  for i = 0, 62 do sum = sum ~ (b >> i & 1) * (a << i) end
  return sum
end

harness.test("the equations of Figure 7", function()
  local equations = { -- address bits of I0, I1, ...
    { 25, 24, 23, 22, 21, 18, 17, 15, 12, 7 }, { 26, 25, 24, 23, 22, 19, 18, 16, 13, 8 },
    { 26, 22, 21, 20, 19, 18, 15, 14, 12, 9 }, { 23, 22, 21, 20, 19, 16, 15, 13, 10 }, { 24, 23, 22, 21, 20, 17, 16, 14, 11 },
  }
  local masks = pric.masks(37, 7, 27)
  harness.equal(#masks, 5, "index bits")
  for i, bits in ipairs(equations) do
    local mask = 0
    for _, bit in ipairs(bits) do mask = mask | 1 << bit end
    harness.equal(("%x"):format(masks[i]), ("%x"):format(mask), "I" .. i - 1)
  end
end)

-- The polynomial is x^3 + x^2 + 1; the figure numbers the sets with their index bits turned round.
harness.test("the table of Figure 5(b)", function()
  local rows = {
    { 0, 4, 2, 6, 1, 5, 3, 7 }, { 13, 9, 15, 11, 12, 8, 14, 10 }, { 23, 19, 21, 17, 22, 18, 20, 16 },
    { 26, 30, 24, 28, 27, 31, 25, 29 }, { 35, 39, 33, 37, 34, 38, 32, 36 }, { 46, 42, 44, 40, 47, 43, 45, 41 },
    { 52, 48, 54, 50, 53, 49, 55, 51 }, { 57, 61, 59, 63, 56, 60, 58, 62 },
  }
  local masks, seen = pric.masks(13, 0, 6), 0
  masks[1], masks[3] = masks[3], masks[1]
  for _, row in ipairs(rows) do
    for s, location in ipairs(row) do
      harness.equal(index(masks, location), s - 1, "set of location " .. location)
      seen = seen | 1 << location
    end
  end
  harness.equal(seen, -1, "locations in the table")
end)

harness.test("irreducible polynomials", function()
  local numbers = { 2, 1, 2, 3, 6, 9, 18, 30 } -- of each degree, known from number theory
  for degree, want in ipairs(numbers) do
    local found = {}
    for p = 1 << degree, (2 << degree) - 1 do
      if pric.is_irreducible(p) then found[#found + 1] = p end
    end
    harness.equal(#found, want, "irreducible polynomials of degree " .. degree)
    harness.equal(pric.least_irreducible(degree), degree == 1 and 3 or found[1], "the least of degree " .. degree)
    if degree == 5 then harness.equal(table.concat(found, " "), "37 41 47 55 59 61", "section 4.3") end
  end
end)

harness.test("A = V P + R, and the masks give R", function()
  local rng = ww.rng(1)
  for degree = 1, 8 do
    local p = pric.least_irreducible(degree)
    local masks = pric.masks(p, 7, 40)
    for _ = 1, 200 do
      local v, r = rng:int(0, (1 << (33 - degree)) - 1), rng:int(0, (1 << degree) - 1)
      local a = product(v, p) ~ r
      harness.equal(pric.modulo(a, p), r, ("%d mod %d"):format(a, p))
      harness.equal(index(masks, a << 7 | rng:int(0, 127)), r, ("set of line %d"):format(a))
    end
  end
end)

harness.test("M references a power of two apart fall into M sets", function()
  for degree = 1, 8 do
    local masks = pric.masks(pric.least_irreducible(degree), 7, 40)
    for shift = 0, 20 do
      local sets, others = {}, 0
      for i = 0, (1 << degree) - 1 do
        local set = index(masks, i << shift + 7)
        others, sets[set] = others + (sets[set] and 0 or 1), true
      end
      harness.equal(others, 1 << degree, ("sets at stride 2^%d"):format(shift))
    end
  end
end)

-- The cache --------------------------------------------------------------------------------------------------------------

local strided = checks.strided

--- One CTA of M threads reads M words `stride` bytes apart, twice over, through an L1 of M sets of one line each: misses.
local function misses(policy, sets, stride, ways)
  local r = checks.run {
    workload = strided { threads = sets, stride = stride, rounds = 2 }, policy = policy,
    set = { sms = 1, ["sm[*].l1d.size"] = sets * 128 * (ways or 1), ["sm[*].l1d.ways"] = ways or 1 },
  }
  return checks.sum(r, "sm.l1d.read_misses"), checks.sum(r, "sm.l1d.line_fails")
end

harness.test("in an L1 of 32 sets every power of two is as good a stride as 128 B; in a linear one it is not", function()
  for shift = 7, 14 do
    harness.equal(misses("pric", 32, 1 << shift), 32, ("misses under pric, stride 2^%d"):format(shift))
  end
  harness.equal(misses("gto", 32, 128), 32, "misses of the linear index, stride 128 B")
  local of_linear, fails = misses("gto", 32, 4096)
  harness.equal(of_linear, 64, "misses of the linear index, stride 4096 B: one set")
  assert(fails > 0, "no associativity stalls")
end)

harness.test("sets of every number from 2 to 256", function()
  for degree = 1, 8 do
    local sets = 1 << degree
    harness.equal(misses("pric", sets, sets * 128), sets, "misses under pric, sets " .. sets)
    harness.equal(misses("gto", sets, sets * 128), 2 * sets, "misses of the linear index, sets " .. sets)
  end
end)

-- Figure 6: 32 rows, a multiple of the number of sets apart, on the machine of Table 1.
harness.test("SYRK's pattern has associativity stalls in a linear L1 and none under pric", function()
  local got, fails = misses("pric", 32, 4096, 4)
  harness.equal(got, 32, "misses under pric")
  harness.equal(fails, 0, "associativity stalls under pric")
  got, fails = misses("gto", 32, 4096, 4)
  harness.equal(got, 64, "misses of the linear index")
  assert(fails >= 2 * 28 / 4, ("%d associativity stalls of the linear index"):format(fails))
end)

-- Users ------------------------------------------------------------------------------------------------------------------

local function refused(policy, set, ...)
  local words = { "run", "gtx480", "vecadd", "--size", "small", "--policy", policy }
  for _, setting in ipairs(set) do table.move({ "--set", setting }, 1, 2, #words + 1, words) end
  local status, output = harness.run(table.unpack(words))
  harness.equal(status, 2, "exit status of " .. policy)
  harness.contains(output, "policy pric", ...)
end

harness.test("polynomials and caches that do not go together are refused by name", function()
  refused("pric:polynomial=11", {}, "polynomial: expected an irreducible polynomial of degree 5 for the 2^5 sets of sm[0].l1d, such as 37, got 11")
  refused("pric:polynomial=33", {}, "got 33") -- x^5 + 1 = (x + 1) (x^4 + x^3 + x^2 + x + 1)
  refused("pric:polynomial=37", { "sm[*].l1d.size=32KiB" }, "for the 2^6 sets of sm[0].l1d, such as 67")
  refused("pric", { "sm[*].l1d.size=12KiB" }, "expected a power of two from 2 on as sets of sm[0].l1d, got 24")
  refused("pric", { "sm[*].l1d.ways=128" }, "expected a power of two from 2 on as sets of sm[0].l1d, got 1")
end)

checks.equals("pric:polynomial=32", "gto", "kmeans") -- x^5: the linear index
checks.law("pric", "gesummv")
checks.resumes("pric", "kmeans", 3)
checks.takes_over("pric", "gto", "kmeans", 20000)
checks.takes_over("gto", "pric", "kmeans", 20000)

harness.finish()
