-- Typed arrays and seeded random numbers.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local function fails(message, body, ...)
  local ok, problem = pcall(body, ...)
  assert(not ok, "no error")
  harness.contains(problem, "test_arrays.lua:", message)
end

harness.test("elements are numbered from 0 and checked", function()
  local a = ww.array("i32", 3)
  harness.equal(#a, 3)
  a[0], a[2] = 7, -7
  harness.equal(a[0], 7)
  harness.equal(a[1], 0)
  harness.equal(a[2], -7)
  fails("array: expected an index from 0 to 2, got 3", function() return a[3] end)
  fails("array: expected an index from 0 to 2, got -1", function() a[-1] = 0 end)
  fails("array: expected no index (it has no elements), got 0", function() return ww.array("u8", 0)[0] end)
end)

harness.test("a check compares integers and floats by their exact values", function()
  local w = setmetatable({ checks = 0 }, { __index = ww.workload "numbers" { ptx = false, sizes = { small = {} } } })
  local big <const> = 1 << 60
  local function agree(...) return (pcall(w.check, w, "numbers", ...)) end
  for _, pair in ipairs {
    { big + 1, big }, { math.maxinteger, math.maxinteger - 1 }, { math.maxinteger, 0x1p63 }, { big + 1, 0x1p60 },
    { ww.i64 { big + 1 }, ww.f64 { big } }, { ww.f64 { big }, ww.u64 { big + 1 } }, { big + 3, big, { abs = 2 } },
    { ww.u64 { -1 }, ww.u64 { 0 }, { abs = 1 } }, { 7, 7.5 },
  } do
    assert(not agree(table.unpack(pair)), tostring(pair[1]) .. " for " .. tostring(pair[2]))
  end
  for _, pair in ipairs {
    { big + 1, big + 1 }, { big, 0x1p60 }, { 100, 103, { abs = 3 } }, { ww.i32 { 100 }, ww.i32 { 103 }, { abs = 3 } },
    { ww.u64 { -1 }, ww.i64 { -1 } }, { ww.u64 { -1 }, ww.u64 { -3 }, { abs = 2 } }, { 0 / 0, 0 / 0 }, { -8, -8.0 },
  } do
    assert(agree(table.unpack(pair)), tostring(pair[1]) .. " not for " .. tostring(pair[2]))
  end
end)

harness.test("an array that this computer has no memory for is refused", function()
  fails("array: expected at most ", ww.array, "f64", 1 << 40)
  fails("this computer's memory, got 1099511627776 elements of 8 bytes", ww.array, "f64", 1 << 40)
  fails("ww.array: expected a whole number of elements", ww.array, "f64", (1 << 40) + 1)
end)

harness.test("integers must fit", function()
  local bounds = {
    i8 = { -128, 127 }, u8 = { 0, 255 }, i16 = { -32768, 32767 }, u16 = { 0, 65535 },
    i32 = { -2147483648, 2147483647 }, u32 = { 0, 4294967295 },
  }
  for element, bound in pairs(bounds) do
    local a = ww.array(element, 1)
    for i = 1, 2 do
      a[0] = bound[i]
      harness.equal(a[0], bound[i], element)
    end
    fails(" for an element of type " .. element, function() a[0] = bound[1] - 1 end)
    fails(" for an element of type " .. element, function() a[0] = bound[2] + 1 end)
    fails("expected a whole number for an element of type", function() a[0] = 0.5 end)
  end
  for _, element in ipairs { "i64", "u64" } do
    local a = ww.array(element, 1):set(0, math.mininteger)
    harness.equal(a[0], math.mininteger, element)
  end
end)

harness.test("floats are rounded to their type", function()
  harness.equal(ww.array("f32", 1):set(0, 0.1)[0], 0x1.99999ap-4)
  harness.equal(ww.array("f64", 1):set(0, 0.1)[0], 0.1)
  harness.equal(ww.array("f16", 1):set(0, 0.1)[0], 0x1.998p-4)
  harness.equal(ww.array("bf16", 1):set(0, 0.1)[0], 0x1.9ap-4)
  -- of two equally near ones the even one; subnormal numbers; beyond the largest
  harness.equal(ww.f16 { 2049, 2051, 0x1p-25, 0x1.8p-24, 65519, 65520, -math.huge }:string(),
    ("<" .. ("I2"):rep(7)):pack(0x6800, 0x6802, 0, 2, 0x7bff, 0x7c00, 0xfc00))
  harness.equal(ww.bf16 { 1, 257, 259, -2.5 }:string(), ("<I2I2I2I2"):pack(0x3f80, 0x4380, 0x4382, 0xc020))
  harness.equal(ww.f16 { 1.5, 2 }:sum(), 3.5)
end)

harness.test("types have their size", function()
  for element, bytes in pairs { i8 = 1, u8 = 1, i16 = 2, u16 = 2, i32 = 4, u32 = 4, i64 = 8, u64 = 8, f32 = 4, f64 = 8, f16 = 2, bf16 = 2 } do
    harness.equal(ww.array(element, 5):bytes(), 5 * bytes, element)
    harness.equal(ww.array(element, 5):type(), element)
    harness.equal(ww[element](1)[0], 1, element)
  end
  fails("type: expected i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, f16 or bf16, got 'f8'", ww.array, "f8", 1)
end)

harness.test("slices and copies are arrays of their own", function()
  local a = ww.array("i16", 4):fill(3):set(1, 5)
  local part, copy = a:slice(1, 2), a:copy()
  a:fill(0)
  harness.equal(#part, 2)
  harness.equal(part[0], 5)
  harness.equal(part[1], 3)
  harness.equal(copy:sum(), 14)
  harness.equal(#a:slice(4, 0), 0)
  fails("2 elements from 3 on", a.slice, a, 3, 2)
end)

harness.test("sums and dot products", function()
  local a, b = ww.array("f32", 4), ww.array("f64", 4)
  for i = 0, 3 do a[i], b[i] = i + 1, 10 ^ i end
  harness.equal(a:sum(), 10.0)
  harness.equal(a:dot(b), 4321.0)
  harness.equal(a:dot(a), 30.0)
  harness.equal(a:dot(b, 1, 0, 2, 2, 1), 42.0) -- a[1] b[0] + a[3] b[1]
  harness.equal(a:dot(b, 4, 4, 0, 1, 1), 0.0)
  fails("dot: expected elements 0 to 3, got 4", a.dot, a, b, 2, 0, 3, 1, 1)
  local big = 1 << 32 -- 2^32 steps of 2^32 elements are none modulo 2^64
  fails("dot: expected elements 0 to 3, got 18446744073709551615", a.dot, a, b, 0, 0, big + 1, big, 1)
  fails("dot: expected elements 0 to 3, got 18446744073709551615", a.dot, a, b, 0, 0, big + 1, 0, big)
  fails("dot: expected an array of 4 elements, got 3", a.dot, a, ww.array("f32", 3))
end)

harness.test("products by fused multiply-adds are rounded to single precision once a step", function()
  local e = 2.0 ^ -12
  local a, b = ww.f32 { 1, 1 + e, 7 }, ww.f32 { -1, 1 - e, 7 } -- (1 + e)(1 - e) = 1 - 2^-24 would round to 1
  harness.equal(a:fma_dot(b, 0, 0, 2, 1, 1), -2.0 ^ -24)
  harness.equal(a:fma_dot(b, 0, 1, 2, 2, 1), 1 - e + 49)
  harness.equal(ww.f32 { 1, 1, 1 }:fma_dot(ww.f32 { 1, 2.0 ^ -24, 2.0 ^ -24 }), 1.0) -- each addition rounds
  harness.equal(a:fma_dot(b, 3, 3, 0, 1, 1), 0.0)
  fails("fma_dot: expected two arrays of f32, got f32 and f64", a.fma_dot, a, ww.array("f64", 3))
  fails("fma_dot: expected elements 0 to 2, got 3", a.fma_dot, a, b, 0, 1, 3, 1, 1)
end)

harness.test("arithmetic of singles rounds once", function()
  local e = 2.0 ^ -12
  harness.equal(ww.float32.fma(1 + e, 1 - e, -1), -2.0 ^ -24)
  harness.equal(ww.float32.fma(1, 1, 2.0 ^ -24), 1.0)
  -- 1 + 2^-24 and less than a bit of a double more: midway between two singles when rounded to a double first
  harness.equal(ww.float32.fma(1 + 2.0 ^ -23, 2.0 ^ -24, 1), 1 + 2.0 ^ -23)
  harness.equal(ww.float32.round(0.1), 0x1.99999ap-4)
  harness.equal(ww.float32.round(1 + 2.0 ^ -24), 1.0)
  fails("float32: expected a number, got nil", ww.float32.fma, 1, 2, nil)
end)

harness.test("floats are scaled, all or a range", function()
  local a = ww.f32 { 1, 2, 3, 4 }
  harness.equal(a:scale(0.5):sum(), 5.0)
  a:scale(10, 1, 2)
  harness.equal(a[0], 0.5)
  harness.equal(a[1], 10.0)
  harness.equal(a[2], 15.0)
  harness.equal(a[3], 2.0)
  harness.equal(ww.f32 { 1 }:scale(0.1)[0], 0x1.99999ap-4)
  fails("expected a range within its 4 elements, got 2 elements from 3 on", a.scale, a, 1, 3, 2)
  fails("scale: expected an array of f32, f64, f16 or bf16, got i32", a.scale, ww.i32 { 1 }, 2)
end)

harness.test("elements are gathered from places", function()
  local a = ww.f64 { 10, 20, 30 }:gather(ww.u8 { 2, 0, 2, 1 })
  harness.equal(a:type(), "f64")
  harness.equal(#a, 4)
  harness.equal(a[0], 30.0)
  harness.equal(a[1], 10.0)
  harness.equal(a[2], 30.0)
  harness.equal(a[3], 20.0)
  harness.equal(#a:gather(ww.array("i32", 0)), 0)
  fails("gather: expected places below 4, got 4 as number 1", a.gather, a, ww.i32 { 3, 4 })
  fails("gather: expected places below 4, got -1 as number 0", a.gather, a, ww.i64 { -1 })
  fails("gather: expected an array of whole numbers, got f32", a.gather, a, ww.f32 { 1 })
end)

harness.test("tables have an array's elements, from 0", function()
  local t = ww.i16 { 5, -6, 7 }:table()
  harness.equal(t[0], 5)
  harness.equal(t[1], -6)
  harness.equal(t[2], 7)
  harness.equal(t[3], nil)
  harness.equal(math.type(t[0]), "integer")
  harness.equal(ww.f32 { 0.5 }:table()[0], 0.5)
  harness.equal(next(ww.array("u8", 0):table()), nil)
end)

harness.test("tables may have a part of an array, and be given", function()
  local a, into = ww.i16 { 5, -6, 7, 8 }, { [0] = 1, 2, 3 }
  local part = a:table(1, 2)
  harness.equal(part[0], -6)
  harness.equal(part[1], 7)
  harness.equal(part[2], nil)
  harness.equal(a:table(3)[0], 8)
  harness.equal(a:table(2, 2, into), into)
  harness.equal(into[0], 7)
  harness.equal(into[1], 8)
  harness.equal(into[2], 3)
  harness.equal(next(a:table(4)), nil)
  fails("expected a range within its 4 elements, got 3 elements from 2 on", a.table, a, 2, 3)
  fails("table: expected a table to write to, got 5", a.table, a, 0, 1, 5)
end)

harness.test("a method of another type's value is refused", function()
  local a, rng = ww.i16 { 1 }, ww.rng(1)
  fails("expected an array, got a userdata", a.sum, rng)
  harness.contains(select(2, pcall(rng.int, a, 1, 2)), "warpwright.random expected, got warpwright.array")
  fails("expected an array, got 'text'", a.sum, "text")
end)

harness.test("a string's bytes are put into an array", function()
  local a = ww.array("u8", 6):fill(1):put(2, "ABC")
  harness.equal(a:string(), "\1\1ABC\1")
  harness.equal(ww.array("u16", 2):put(1, "\x34\x12")[1], 0x1234)
  harness.equal(a:put(6, ""):string(), "\1\1ABC\1")
  fails("put: expected a range within the 6 elements, got 3 elements from 4 on", a.put, a, 4, "ABC")
  fails("put: expected a multiple of 2 bytes, the size of an element, got 3 bytes", a.put, ww.array("u16", 2), 0, "ABC")
end)

harness.test("arrays of floats from 0 to 1 have the numbers that a generator of the same seed draws", function()
  local rng, floats = ww.rng(7), ww.array("f64", 1000):random(7, 0, 1)
  for i = 0, #floats - 1 do harness.equal(floats[i], rng:float()) end
end)

harness.test("random numbers are the same for ever", function()
  -- splitmix64 from seed 1: 0x910a2dec89025cc1, 0xbeeb8da1658eec67, 0xf893a2eefb32555e
  local rng = ww.rng(1)
  harness.equal(rng:int(math.mininteger, math.maxinteger), 0x910a2dec89025cc1 + math.mininteger)
  harness.equal(rng:float(), (0xbeeb8da1658eec67 >> 11) * 2.0 ^ -53)
  harness.equal(rng:int(0, 99), 97) -- 0xf893a2eefb32555e / 2^64 = 0.97102...
  harness.equal(ww.array("f64", 2):random(1, 0, 1)[1], (0xbeeb8da1658eec67 >> 11) * 2.0 ^ -53)
  fails("rng:int: expected lo <= hi, got 2 and 1", rng.int, rng, 2, 1)
end)

harness.test("random bytes are those that int draws one by one", function()
  local rng, same, drawn = ww.rng(7), ww.rng(7), {}
  for i = 1, 100 do drawn[i] = string.char(same:int(97, 122)) end
  harness.equal(rng:bytes(100, 97, 122), table.concat(drawn))
  harness.equal(rng:int(0, 1 << 40), same:int(0, 1 << 40)) -- and leave the sequence where it leaves it
  harness.equal(rng:bytes(0, 0, 255), "")
  harness.equal(rng:bytes(3, 255, 255), "\xff\xff\xff")
  fails("rng:bytes: expected 0 <= lo <= hi <= 255, got 0 and 256", rng.bytes, rng, 1, 0, 256)
  fails("rng:bytes: expected 0 <= lo <= hi <= 255, got 2 and 1", rng.bytes, rng, 1, 2, 1)
  fails("rng:bytes: count: expected a whole number of elements, got -1", rng.bytes, rng, -1, 0, 1)
  fails("rng:bytes: count: expected at most", rng.bytes, rng, 1 << 39, 0, 1)
end)

harness.test("random floats need bounds that the type has, and a finite difference", function()
  for _, case in ipairs { { "f32", -math.huge, math.huge }, { "f64", 0, math.huge }, { "f64", -1.5e308, 1.5e308 }, { "f32", 0, 1e39 },
    { "f16", 0, 65520 } } do
    fails("random: expected lo, hi and their difference finite in " .. case[1], function()
      ww.array(case[1], 2):random(1, case[2], case[3])
    end)
  end
end)

harness.test("integers become the floats that they are", function()
  local largest = ww.array("u64", 1):set(0, -1)
  for _, element in ipairs { "f32", "f64" } do harness.equal(ww.array_from(element, largest)[0], 1.8446744073709552e19) end
  harness.equal(ww.array_from("f64", ww.array("i64", 1):set(0, -1))[0], -1.0)
  fails("array: expected 0 to 255", ww.array_from, "u8", ww.array("i16", 1):set(0, 256))
end)

harness.test("a sum of integers is an integer modulo 2^64", function()
  harness.equal(ww.array("i64", 2):fill(math.maxinteger):sum(), -2)
end)

harness.test("random elements stay in their range and reach its ends", function()
  local a = ww.array("i8", 1000):random(7, -2, 2)
  local seen = {}
  for i = 0, #a - 1 do seen[a[i]] = true end
  for value = -2, 2 do assert(seen[value], value) end
  harness.equal(#seen, 2)
  for _, element in ipairs { "f32", "f64", "f16", "bf16" } do
    for _, ends in ipairs { { 1, 1 + 2.0 ^ -20 }, { 1, 1 + 2.0 ^ -7 }, { -1, 0 } } do
      local f = ww.array(element, 1000):random(7, ends[1], ends[2])
      for i = 0, #f - 1 do assert(f[i] >= ends[1] and f[i] < ends[2]) end
    end
  end
  fails("random: expected lo <", a.random, a, 1, 3, 2)
end)

harness.test("arrays are made of lists, strings of bytes and other arrays", function()
  local a = ww.array_from("i16", { 1, -2, 300 })
  harness.equal(#a, 3)
  harness.equal(a[1], -2)
  harness.equal(a[2], 300)
  harness.equal(ww.f32 { 0.5, 1.5 }[1], 1.5)
  harness.equal(#ww.u8 {}, 0)
  local b = ww.array_from("u16", "\x01\x00\x00\xff")
  harness.equal(#b, 2)
  harness.equal(b[0], 1)
  harness.equal(b[1], 0xff00)
  local c = ww.array_from("f64", a)
  harness.equal(c:type(), "f64")
  harness.equal(c[1], -2.0)
  fails("array: expected 0 to 255 for an element of type u8, got -2", ww.array_from, "u8", a)
  fails("array: expected -128 to 127 for an element of type i8, got 300", ww.i8, { 1, 300 })
  fails("array: expected a number, got true", ww.f32, { true })
  fails("array_from: expected a multiple of 4 bytes, the size of an element, got 6 bytes", ww.array_from, "f32", "sixsix")
  fails("array_from: expected a list of numbers, a string of bytes, or an array, got 7", ww.array_from, "f32", 7)
end)

harness.test("arrays become strings of bytes and files, and files arrays", function()
  local a = ww.array_from("u32", { 0, 0x41424344, 5 })
  harness.equal(a:string(), "\0\0\0\0DCBA\5\0\0\0")
  harness.equal(a:string(1), "DCBA\5\0\0\0")
  harness.equal(a:string(1, 1), "DCBA")
  harness.equal(a:string(3), "")
  fails("array: expected a range within its 3 elements, got 3 elements from 1 on", function() a:string(1, 3) end)
  fails("array: expected a first element up to 3, got 4", function() a:string(4) end)
  local path = harness.folder() .. "/numbers.bin"
  a:write(path)
  harness.equal(harness.read(path), a:string())
  local read = ww.file_array(path, "u32")
  harness.equal(read:string(), a:string())
  harness.equal(#ww.file_array(path, "u8"), 12)
  fails(("file_array: %s: expected a multiple of 8 bytes, the size of an element, got 12 bytes"):format(path), ww.file_array, path, "f64")
  fails("file_array: none.bin: cannot open it: No such file", ww.file_array, "none.bin", "u8")
  fails("file_array: .: expected a file that can be read", ww.file_array, ".", "u8")
  fails("write: /no/such/folder: cannot open it: No such file", function() a:write "/no/such/folder" end)
end)

harness.test("elements are copied from array to array", function()
  local a, b = ww.array_from("i32", { 1, 2, 3, 4, 5 }), ww.array_from("i32", { 10, 20, 30 })
  a:put(1, b, 1, 2)
  harness.equal(a:string(), ww.i32 { 1, 20, 30, 4, 5 }:string())
  harness.equal(a:put(2, b), a)
  harness.equal(a:string(), ww.i32 { 1, 20, 10, 20, 30 }:string())
  a:put(0, a, 1, 4) -- overlapping
  harness.equal(a:string(), ww.i32 { 20, 10, 20, 30, 30 }:string())
  fails("put: expected a range within the 5 elements, got 3 elements from 3 on", function() a:put(3, b) end)
  fails("put: expected an array of type i32, got u32", function() a:put(0, ww.u32 { 1 }) end)
  fails("array: expected a range within its 3 elements, got 2 elements from 2 on", function() a:put(0, b, 2, 2) end)
end)

harness.finish()
