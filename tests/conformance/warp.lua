-- Instructions in which lanes see each other, under random masks: lanes that do not take part, and groups of lanes that
-- execute the same instruction with masks of their own.
local ww = require "warpwright"

local warp = {}

local LANES <const> = 32
local GROUP <const> = "across lanes"

local KERNEL = [[
.version 8.0
.target sm_90
.address_size 64
.visible .entry lanes(.param .u64 records, .param .u64 results)
{
.reg .b64 %at, %to, %wide;
.reg .b32 %index, %size, %cta, %a, %b, %c, %mask, %takes_part, %d, %flag, %voted;
.reg .pred %p, %q, %absent;
mov.u32 %index, %tid.x;
mov.u32 %size, %ntid.x;
mov.u32 %cta, %ctaid.x;
mad.lo.u32 %index, %cta, %size, %index;
ld.param.u64 %at, [records];
mad.wide.u32 %at, %index, 32, %at;
ld.param.u64 %to, [results];
mad.wide.u32 %to, %index, 8, %to;
ld.global.b64 %wide, [%at];
ld.global.b32 %a, [%at];
ld.global.b32 %b, [%at+8];
ld.global.b32 %c, [%at+12];
ld.global.b32 %mask, [%at+16];
ld.global.b32 %takes_part, [%at+20];
ld.global.b32 %voted, [%at+24];
setp.ne.u32 %q, %voted, 0;
setp.eq.u32 %absent, %takes_part, 0;
mov.u32 %d, 0;
setp.ne.u32 %p, 0, 0;
@%absent bra DONE;
STATEMENT
selp.u32 %flag, 1, 0, %p;
st.global.v2.b32 [%to], {%d, %flag};
DONE:
ret;
}
]]

-- Statements by the beginning of a form; `masked` are those that name their lanes.
local statements = {
  { "shfl.sync.", "%s %%d|%%p, %%a, %%b, %%c, %%mask;", masked = true }, { "shfl.", "%s %%d|%%p, %%a, %%b, %%c;" },
  { "vote.sync.ballot", "%s %%d, %%q, %%mask;", masked = true }, { "vote.ballot", "%s %%d, %%q;" },
  { "vote.sync.", "%s %%p, %%q, %%mask;", masked = true }, { "vote.", "%s %%p, %%q;" },
  { "match.sync.any.b32", "%s %%d, %%a, %%mask;", masked = true },
  { "match.sync.any.b64", "%s %%d, %%wide, %%mask;", masked = true },
  { "match.sync.all.b32", "%s %%d|%%p, %%a, %%mask;", masked = true },
  { "match.sync.all.b64", "%s %%d|%%p, %%wide, %%mask;", masked = true },
  { "elect.sync", "%s %%d|%%p, %%mask;", masked = true }, { "activemask.", "%s %%d;" },
  { "redux.sync.", "%s %%d, %%a, %%mask;", masked = true },
}

local function statement_of(form)
  for _, entry in ipairs(statements) do
    if form:sub(1, #entry[1]) == entry[1] then return entry[2]:format(form), entry.masked end
  end
end

--- Whether this file compares the form.
function warp.takes(form) return statement_of(form) ~= nil end

local function signed(x) return x < 0x80000000 and x or x - 0x100000000 end

local function lanes_of(mask)
  local list = {}
  for lane = 0, LANES - 1 do
    if mask >> lane & 1 == 1 then list[#list + 1] = lane end
  end
  return list
end

-- What a lane gets: d, p. `group` is its lanes; nil: nothing defines it.
local function shuffled(mode)
  return function(lane, lanes, group)
    local own = lanes[lane]
    local offset, clamp, segment = own.b & 31, own.c & 31, own.c >> 8 & 31
    local least = lane & segment
    local most = least | clamp & ~segment
    local from = mode == "up" and lane - offset or mode == "down" and lane + offset or mode == "bfly" and lane ~ offset or
      least | offset & ~segment
    local valid
    if mode == "up" then valid = from >= most else valid = from <= most end
    if not valid then from = lane end
    if group >> from & 1 == 0 then return nil, valid end
    return lanes[from].a, valid
  end
end

local function ballot(lanes, group)
  local voted = 0
  for _, lane in ipairs(lanes_of(group)) do
    if lanes[lane].voted then voted = voted | 1 << lane end
  end
  return voted
end

local function matching(lane, lanes, group, key)
  local same = 0
  for _, other in ipairs(lanes_of(group)) do
    if lanes[other][key] == lanes[lane][key] then same = same | 1 << other end
  end
  return same
end

local function reduced(step)
  return function(_, lanes, group)
    local value
    for _, lane in ipairs(lanes_of(group)) do value = value and step(value, lanes[lane].a) or lanes[lane].a end
    return value & 0xffffffff
  end
end

local function match_any(key) return function(lane, lanes, group) return matching(lane, lanes, group, key) end end
local function match_all(key)
  return function(lane, lanes, group)
    local all = matching(lane, lanes, group, key) == group
    return all and group or 0, all
  end
end

local CANONICAL_NAN <const> = 0x7fffffff
local function is_nan(bits) return bits & 0x7fffffff > 0x7f800000 end
--- As an integer that ascends with the number: -0 is less than +0.
local function rank(bits) return bits < 0x80000000 and bits or 0x7fffffff - bits end

local function extreme(which)
  return function(_, lanes, group, _, form)
    local value
    for _, lane in ipairs(lanes_of(group)) do
      local bits = lanes[lane].a
      if form:find "%.abs" then bits = bits & 0x7fffffff end
      if is_nan(bits) then
        if form:find "%.NaN" then return CANONICAL_NAN end
      elseif not value or which == "min" and rank(bits) < rank(value) or which == "max" and rank(bits) > rank(value) then
        value = bits
      end
    end
    return value or CANONICAL_NAN
  end
end

local references = {
  { "^shfl.*up", shuffled "up" }, { "^shfl.*down", shuffled "down" }, { "^shfl.*bfly", shuffled "bfly" },
  { "^shfl.*idx", shuffled "idx" },
  { "^vote.*ballot", function(_, lanes, group) return ballot(lanes, group) end },
  { "^vote.*all", function(_, lanes, group) return 0, ballot(lanes, group) == group end },
  { "^vote.*any", function(_, lanes, group) return 0, ballot(lanes, group) ~= 0 end },
  { "^vote.*uni", function(_, lanes, group)
    local voted = ballot(lanes, group)
    return 0, voted == 0 or voted == group
  end },
  { "^match.*any.b32", match_any "a" }, { "^match.*any.b64", match_any "wide" },
  { "^match.*all.b32", match_all "a" }, { "^match.*all.b64", match_all "wide" },
  { "^elect", function(lane, _, group)
    local leader = lanes_of(group)[1]
    return leader, lane == leader
  end },
  { "^activemask", function(_, _, _, active) return active end },
  { "^redux.*add", reduced(function(a, b) return a + b end) },
  { "^redux.*and", reduced(function(a, b) return a & b end) },
  { "^redux.*xor", reduced(function(a, b) return a ~ b end) },
  { "^redux.*or", reduced(function(a, b) return a | b end) },
  { "^redux.*min.*u32", reduced(math.min) }, { "^redux.*max.*u32", reduced(math.max) },
  { "^redux.*min.*f32", extreme("min") }, { "^redux.*max.*f32", extreme("max") },
  { "^redux.*min.*s32", reduced(function(a, b) return signed(a) < signed(b) and a or b end) },
  { "^redux.*max.*s32", reduced(function(a, b) return signed(a) > signed(b) and a or b end) },
}

local function reference_of(form)
  for _, entry in ipairs(references) do
    if form:find(entry[1]) then return entry[2] end
  end
  error("no reference for " .. form)
end

local FLOATS <const> = { 0, 0x80000000, 1, 0x80000001, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x3f800000, 0xbf800000 }

--- Random lanes of a warp, the mask of those that take part, and groups that share them out.
local function draw(rng, masked, floats)
  local one_of = { 0xffffffff, 0, 1, 0x0000ffff, 0xaaaaaaaa, 0x80000000 }
  local style = rng:int(0, 9)
  local active = style < 4 and one_of[1] or style < 6 and one_of[rng:int(1, #one_of)] or rng:int(0, 0xffffffff)
  local groups = {}
  local kinds = masked and rng:int(1, 4) or 1
  local width = 1 << rng:int(0, 4)
  local aligned = rng:int(0, 1) == 1
  local clamp = rng:int(0, 2) == 0 and rng:int(0, 0x1f1f) or rng:int(0, 1) == 0 and 0x1f or 0
  local few = rng:int(0, 2)
  local lanes = {}
  for lane = 0, LANES - 1 do
    local number = floats and FLOATS[rng:int(1, 2 * #FLOATS)]
    local a = number or few == 0 and 7 or few == 1 and rng:int(0, 3) * 0x40000001 or rng:int(0, 0xffffffff)
    local above = rng:int(0, 3) == 0 and rng:int(0, 1) or 0
    local label = aligned and lane // width or rng:int(1, kinds)
    lanes[lane] = {
      a = a, wide = above << 32 | a, b = above << 32 | rng:int(0, 33), c = clamp, voted = few == 0 and lane % 7 > 0 or few ~= 0 and rng:int(0, 1) == 1,
      label = masked and label or 0, active = active >> lane & 1 == 1,
    }
    lanes[lane].b = lanes[lane].b & 0xffffffff
    if few == 0 and active % 3 == 0 then lanes[lane].voted = active % 2 == 0 end
    if lanes[lane].active then groups[lanes[lane].label] = (groups[lanes[lane].label] or 0) | 1 << lane end
  end
  for lane = 0, LANES - 1 do lanes[lane].group = groups[lanes[lane].label] or 0 end
  return lanes, active
end

local function differs(form, reference, lane, lanes, active, d, p, has_p)
  if not lanes[lane].active then return d ~= 0 or p ~= 0 end
  local want_d, want_p = reference(lane, lanes, lanes[lane].group, active, form)
  return want_d and want_d ~= d or has_p and p ~= (want_p and 1 or 0), want_d, want_p
end

--- Compares a form in `warps` warps: cases (of lanes), mismatches, text of the first; more of one that is refused, as some may be.
function warp.compare(gpu, form, warps, seed, may_refuse)
  local statement, masked = statement_of(form)
  local loaded, _, refusals = gpu:load { text = KERNEL:gsub("STATEMENT", (statement:gsub("%%", "%%%%"))), name = form .. ".ptx" }
  if refusals.lanes then
    if not may_refuse then error(refusals.lanes, 0) end
    return 0, 0, nil, { refusal = refusals.lanes }
  end
  local rng, records, all = ww.rng(seed), {}, {}
  for w = 1, warps do
    local lanes, active = draw(rng, masked, form:find "f32")
    all[w] = { lanes = lanes, active = active }
    for lane = 0, LANES - 1 do
      local l = lanes[lane]
      records[#records + 1] = ("<I8I4I4I4I4I4I4"):pack(l.wide, l.b, l.c, l.group, l.active and 1 or 0, l.voted and 1 or 0, 0)
    end
  end
  local input = gpu:upload(ww.array_from("u8", table.concat(records)))
  local output = gpu:alloc(warps * LANES * 8)
  gpu:fill(output, 0, warps * LANES * 8)
  gpu:launch(loaded.lanes, { grid = warps, block = LANES, args = { input, output } })
  local got = gpu:download("u32", output, warps * LANES * 2)
  gpu:free(input)
  gpu:free(output)
  local reference, has_p, wrong, first = reference_of(form), statement:find "%%p", 0, nil
  for w, drawn in ipairs(all) do
    for lane = 0, LANES - 1 do
      local at = ((w - 1) * LANES + lane) * 2
      local is_wrong, want_d, want_p = differs(form, reference, lane, drawn.lanes, drawn.active, got[at], got[at + 1], has_p)
      if is_wrong then
        wrong = wrong + 1
        first = first or ("lane %d of group 0x%x, 0x%x execute: expected %s %s, got %s %s"):format(lane, drawn.lanes[lane].group,
          drawn.active, want_d, want_p, got[at], got[at + 1])
      end
    end
  end
  return warps * LANES, wrong, first
end

warp.GROUP = GROUP
return warp
