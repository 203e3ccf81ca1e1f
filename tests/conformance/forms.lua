-- All forms that the decoder takes, from the rows that it prints: "add.s32/u32 [.rn] [.ftz]" are four types of form.
local access = require "tests.conformance.access"

local forms = {}

-- Of these options at most one stands in a form.
local exclusive = {
  { "add", "min", "max" }, { "shr7", "shr15" }, { "rn", "rz", "rm", "rp", "approx", "full" }, { "and", "or", "xor" },
  { "sc", "acq_rel", "acquire", "release" }, { "global", "shared", "shared::cluster" },
}
local group_of = {}
for _, group in ipairs(exclusive) do
  for _, word in ipairs(group) do group_of[word] = group end
end

local function is_type(word)
  return word:find "^[bsuf]%d" and not word:find "^[fb]4e" or word:find "^e%dm%d" or word:find "^[bt]f%d" or word == "pred"
end

--- All sets of options, as lists.
local function option_sets(options)
  local sets = { {} }
  local done = {}
  for _, option in ipairs(options) do
    local group = group_of[option]
    if not (group and done[group]) then
      local choices = {}
      for _, word in ipairs(options) do
        if word == option or group and group_of[word] == group then choices[#choices + 1] = word end
      end
      if group then done[group] = true end
      local more = {}
      for _, set in ipairs(sets) do
        more[#more + 1] = set
        for _, word in ipairs(choices) do
          local longer = table.move(set, 1, #set, 1, {})
          longer[#longer + 1] = word
          more[#more + 1] = longer
        end
      end
      sets = more
    end
  end
  return sets
end

--- All choices of modifiers: "lo.s32/u32" is two lists.
local function modifier_lists(words)
  local lists = { {} }
  for _, word in ipairs(words) do
    local longer = {}
    for _, list in ipairs(lists) do
      for alternative in word:gmatch "[^/]+" do
        local one = table.move(list, 1, #list, 1, {})
        one[#one + 1] = alternative
        longer[#longer + 1] = one
      end
    end
    lists = longer
  end
  return lists
end

--- Options stand in front of the first type, of video instructions behind all; .sync behind the opcode.
local function text_of(opcode, modifiers, set)
  local words, put = { opcode }, false
  if set[1] == "sync" then
    words[2] = "sync"
    set = {}
  end
  local function add_options()
    if not put then table.move(set, 1, #set, #words + 1, words) end
    put = true
  end
  local video = opcode:find "^v[^o]"
  for _, word in ipairs(modifiers) do
    if is_type(word) and not video then add_options() end
    words[#words + 1] = word
  end
  add_options()
  return table.concat(words, ".")
end

-- A row without options that is no plain opcode with modifiers: "ld [.weak] ...".
local function is_prose(row) return row:find " [^%[]" or row:find "[A-Z][A-Z]" or row:find "%[.*/.*%]" end

-- Of mov, which packs and unpacks vectors: of two elements, and of four.
local PARTS <const> = { b16 = { "" }, b32 = { "", "4" }, b64 = { "", "4" } }

--- The forms, each once, and the rows that are prose.
function forms.all(rows)
  local list, seen, prose = {}, {}, {}
  local function add(form)
    if not seen[form] then list[#list + 1] = form end
    seen[form] = true
  end
  for _, row in ipairs(rows) do
    if is_prose(row) then
      prose[#prose + 1] = row
    else
      local words, options = {}, {}
      local head, rest = row:match "^(%S+)(.*)$"
      for word in head:gmatch "[^.]+" do words[#words + 1] = word end
      for option in rest:gmatch "%[%.([^%]]+)%]" do options[#options + 1] = option end
      local opcode = table.remove(words, 1)
      for _, modifiers in ipairs(modifier_lists(words)) do
        for _, set in ipairs(option_sets(options)) do add(text_of(opcode, modifiers, set)) end
        if opcode == "mov" and PARTS[modifiers[1]] then
          for _, parts in ipairs(PARTS[modifiers[1]]) do
            add(("mov{pack%s}.%s"):format(parts, modifiers[1]))
            add(("mov{unpack%s}.%s"):format(parts, modifiers[1]))
          end
        end
      end
    end
  end
  access(add)
  return list, prose
end

return forms
