-- Whether docs/ptx_forms.md says of each opcode what the decoder does with it.
local core = require "warpwright.core"

local PAGE <const> = "docs/ptx_forms.md"
-- The parser makes other instructions of it.
local BY_THE_PARSER <const> = { brx = true, alloca = true, stacksave = true, stackrestore = true }

--- The opcodes of a cell: "add.cc" is one of "add".
local function opcodes_of(cell, into)
  for opcode in cell:gmatch "`(%w+)[^`]*`" do into[opcode] = true end
end

local function read_table(text)
  local done, refused = {}, {}
  local section = text:match "## Every instruction(.-)\n## " or ""
  for first, second in section:gmatch "\n|[^|]*|([^|]*)|([^|]*)|" do
    opcodes_of(first, done)
    opcodes_of(second, refused)
  end
  return done, refused
end

--- A list of what is wrong with the page, for the decoder's rows.
return function(rows)
  local file = assert(io.open(core.home_path(PAGE)))
  local done, refused = read_table(file:read "a")
  file:close()
  local there, wrong = {}, {}
  for _, row in ipairs(rows) do
    local opcode = row:match "^(%l%w*)[. ]" or row:match "^(%l%w*)$"
    if opcode then there[opcode] = true end
  end
  for opcode in pairs(there) do
    if not done[opcode] then wrong[#wrong + 1] = opcode .. " is done, and not so in " .. PAGE end
  end
  for opcode in pairs(done) do
    if not there[opcode] and not BY_THE_PARSER[opcode] then wrong[#wrong + 1] = opcode .. " is not done, and is so in " .. PAGE end
  end
  for opcode in pairs(refused) do
    if there[opcode] then wrong[#wrong + 1] = opcode .. " is done, and refused in " .. PAGE end
  end
  table.sort(wrong)
  return wrong
end
