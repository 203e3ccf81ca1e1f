-- What the driver changes in device code, as text: in the IR before clang optimises it, and in the PTX.
local device_code = {}

-- Convergent operations ---------------------------------------------------------------------------------------------------------------
-- clang takes each piece of inline assembly for convergent, that is for one that other lanes take part in, and unrolls no loop around
-- such a piece whose bound is known at run time alone. NVIDIA's compiler does, so what no other lane takes part in loses that attribute.
-- What others do take part in must not move out of both sides of a branch, where more lanes would: LLVM 14 does that unless the
-- operation is `nomerge`.

--- Words of instructions that other lanes take part in, or that go elsewhere.
local convergent = {}
for word in ([[activemask aligned bar barrier bra brx call elect exit ldmatrix match mbarrier mma movmatrix redux ret shfl stmatrix sync tcgen05
vote wgmma wmma]]):gmatch "%S+" do convergent[word] = true end

local function is_convergent(text)
  for word in text:gsub("\\%x%x", " "):gmatch "[%a_][%w_]*" do
    if convergent[word] then return true end
  end
  return false
end

--- Groups of attributes with `convergent`, by number: the same without it, and the number of a group to be.
local function loose_groups(ir)
  local highest, groups, list = 0, {}, {}
  for number, attributes in ir:gmatch "\nattributes #(%d+) = ({[^\n]*})" do
    highest = math.max(highest, math.tointeger(number))
    local rest, count = attributes:gsub("%f[%w]convergent ", "")
    if count == 1 then
      groups[number] = { attributes = rest }
      list[#list + 1] = groups[number]
    end
  end
  for i, group in ipairs(list) do group.number = highest + i end
  return groups
end

local function loosen_assembly(ir)
  local groups, used = loose_groups(ir), {}
  local text = ir:gsub("\n([^\n\"]* asm [^\n\"]*)\"([^\n\"]*)\"([^\n]*)", function(before, instructions, after)
    local start, number, rest = after:match "^(.*%) #)(%d+)(.*)$"
    local group = groups[number]
    if not group then return nil end
    if is_convergent(instructions) then return ('\n%s"%s"%s%s nomerge%s'):format(before, instructions, start, number, rest) end
    used[#used + 1] = not used[group] and ("attributes #%d = %s\n"):format(group.number, group.attributes) or nil
    used[group] = true
    return ('\n%s"%s"%s%d%s'):format(before, instructions, start, group.number, rest)
  end)
  return text .. table.concat(used)
end

local function keep_on_their_sides(ir)
  return (ir:gsub("( call [^\n]*@llvm%.nvvm%.(%l+)%.[^\n]*)(%) ?#?%d*)", function(call, operation, finish)
    return convergent[operation] and ("%s%s nomerge"):format(call, finish) or nil
  end))
end

-- Integers of 128 bits -----------------------------------------------------------------------------------------------------------------

local function is_power_of_two(word)
  local number = math.tointeger(word)
  return number and number > 0 and number & number - 1 == 0
end

--- The IR with calls of the functions of wide_integers.h, and whether there are any. clang has shifts for divisors that are powers of two.
local function call_wide_functions(ir)
  local has_calls = false
  local text = ir:gsub("= ([su])(%a+) i128 ([^%s,]+), ([^%s,]+)", function(sign, operation, a, b)
    if operation ~= "div" and operation ~= "rem" or is_power_of_two(b) then return nil end
    has_calls = true
    return ("= call i128 @__warpwright_%s%s_i128(i128 %s, i128 %s)"):format(sign, operation, a, b)
  end)
  text = text:gsub("= ([su]itofp) i128 (%S+) to (%l+)", function(operation, value, type)
    has_calls = true
    return ("= call %s @__warpwright_%s_%s(i128 %s)"):format(type, operation, type, value)
  end)
  text = text:gsub("= (fpto[su]i) (%l+) (%S+) to i128", function(operation, type, value)
    has_calls = true
    return ("= call i128 @__warpwright_%s_%s(%s %s)"):format(operation, type, type, value)
  end)
  return text, has_calls
end

-- Constants ---------------------------------------------------------------------------------------------------------------------------
-- clang 14 puts `__device__ const` and `constexpr` variables and `static const` ones of functions into constant memory, where they
-- share its 64 KiB and lanes wait for each other's addresses, and their `extern` declarations into global memory. NVIDIA's compiler
-- has them all in global memory. In IR as clang makes it, each use of such a variable begins with a cast to a generic address.

--- The IR without annotations, and the names in them: what is declared __constant__.
local function take_annotations(ir)
  local names = {}
  local text = ir:gsub("\n@llvm%.global%.annotations = [^\n]*", function(line)
    for name in line:gmatch "@[%w_.$]+" do names[name] = true end
    return ""
  end)
  return text, names
end

--- Names of variables in constant memory, but for those of `names`, of other files and of the device library, with 0 for each.
local function constants_but(ir, names)
  local found = {}
  for name, linkage in ir:gmatch "\n(@[%w_.$]+) = ([%l_ ]*)addrspace%(4%) [%l_ ]*constant " do
    if not names[name] and not linkage:find "external " and not linkage:find "unnamed_addr" then found[name] = 0 end
  end
  return found
end

--- The name of the variable at the beginning of a cast, `(... addrspace(4)* @name to ...)`; nil where there is none, or are several.
local function name_in(cast)
  local name, rest = cast:match "^[^@]*addrspace%(4%)%* (@[%w_.$]+)([^@]*)$"
  return rest and name
end

--- Those of the variables that are used in other ways than by casts stay where they are.
local function keep_others(ir, found)
  for cast in ir:gmatch "addrspacecast (%b())" do
    local name = name_in(cast)
    if name and found[name] then found[name] = found[name] + 1 end
  end
  for name in ir:gmatch "@[%w_.$]+" do
    if found[name] then found[name] = found[name] - 1 end
  end
  for name, casts_but_uses in pairs(found) do
    if casts_but_uses ~= -1 then found[name] = nil end -- its definition is the use without a cast
  end
end

local function move_constants(ir)
  local text, names = take_annotations(ir)
  local moved = constants_but(text, names)
  if not next(moved) then return text end
  keep_others(text, moved)
  text = text:gsub("\n(@[%w_.$]+)( = [%l_ ]*)addrspace%(4%)", function(name, linkage)
    return moved[name] and ("\n%s%saddrspace(1)"):format(name, linkage) or nil
  end)
  return (text:gsub("(addrspacecast )(%b())", function(word, cast)
    return moved[name_in(cast) or ""] and word .. cast:gsub("addrspace%(4%)", "addrspace(1)") or nil
  end))
end

-- alloca ---------------------------------------------------------------------------------------------------------------------------
-- clang 14 has no instruction for it, PTX has. What a function allocates goes when it returns, also where it is inlined.

local save <const>, restore <const> = '  %warpwright.stack = call i64 asm sideeffect "stacksave.u64 $0;", "=l"()\n',
  '  call void asm sideeffect "stackrestore.u64 $0;", "l"(i64 %warpwright.stack)\n'

local allocation <const> = [[
%%warpwright.%s.address = call i64 asm sideeffect "alloca.u64 $0, $1, 16;", "=l,l"(i64 %s)
  %%warpwright.%s.local = inttoptr i64 %%warpwright.%s.address to i8 addrspace(5)*
  %%%s = addrspacecast i8 addrspace(5)* %%warpwright.%s.local to i8*]]

local function allocate_in(body)
  local text, count = body:gsub("%%([%w_.]+) = alloca i8, i64 ([^,\n]+), align %d+", function(name, size)
    return allocation:format(name, size, name, name, name, name)
  end)
  if count == 0 then return nil end
  local label, rest = text:match "^([%w_.]+:[^\n]*\n)(.*)$"
  return (label or "") .. save .. (rest or text):gsub("\n(  ret )", function(word) return "\n" .. restore .. word end)
end

local function allocate_on_stack(ir)
  if not ir:find(" = alloca i8, i64 ", 1, true) then return ir end
  return (ir:gsub("(\ndefine [^\n]*{\n)(.-\n}\n)", function(head, body)
    local changed = allocate_in(body)
    return changed and head .. changed
  end))
end

-- Rotations ------------------------------------------------------------------------------------------------------------------------
-- A rotation of 64 bits goes by the amount modulo 64, and clang drops a program's own `& 63`. But the two shifts that LLVM 14 makes of
-- it take the amount as it is, and shifts by 64 and more give 0.

--- The PTX with amounts below 64.
local function mask_rotations(ptx)
  return (ptx:gsub("(sh[lr]%.b64 \t%%lhs, [^,]+, )(%%r%d+);\n\tsub%.u32 \t%%amt2, 64, (%%r%d+);", function(shift, amount, again)
    if again ~= amount then return nil end
    return ("and.b32 \t%%amt2, %s, 63;\n\t%s%%amt2;\n\tsub.u32 \t%%amt2, 64, %%amt2;"):format(amount, shift)
  end))
end

-- Shifts of signed numbers ---------------------------------------------------------------------------------------------------------
-- `(int64_t)i << 31` becomes a product with 2^31 as a signed number of 32 bits, which is -2^31, and the like of 16 bits. A product with
-- -2^31 is never written so: LLVM makes a shift and a difference of it.

local function shift_signed(ptx)
  return (ptx:gsub("mul%.wide%.s32 \t(%%rd%d+), (%%r%d+), %-2147483648;", "cvt.s64.s32 \t%1, %2;\n\tshl.b64 \t%1, %1, 31;")
    :gsub("mul%.wide%.s16 \t(%%r%d+), (%%rs%d+), %-32768;", "cvt.s32.s16 \t%1, %2;\n\tshl.b32 \t%1, %1, 15;"))
end

-- Bits of shifted signs ---------------------------------------------------------------------------------------------------------------
-- `(i >> 63) & 0xff` of a signed i becomes an extraction of 8 bits from bit 63 on, where those beyond are 0 and not the sign. Of what is
-- unsigned LLVM makes none that reaches beyond.

local function extract_signs(ptx)
  return (ptx:gsub("bfe%.u64 \t(%%rd%d+), (%%rd%d+), (%d+), (%d+);", function(to, from, start, bits)
    if start + bits <= 64 then return nil end
    return ("shr.s64 \t%s, %s, %d;\n\tand.b64 \t%s, %s, %d;"):format(to, from, start, to, to, (1 << math.tointeger(bits)) - 1)
  end))
end

--- PTX of clang's, which does what the program says.
function device_code.mend(ptx) return extract_signs(shift_signed(mask_rotations(ptx))) end

--- The IR as it is to be optimised, and whether the program needs wide_integers.h.
function device_code.change(ir)
  return call_wide_functions(allocate_on_stack(keep_on_their_sides(loosen_assembly(move_constants(ir)))))
end

return device_code
