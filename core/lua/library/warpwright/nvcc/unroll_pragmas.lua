-- `#pragma unroll N` in preprocessed text: clang leaves macros in them as they are, and their definitions out.
local unroll_pragmas = {}

local pragma <const> = "^(%s*#%s*pragma%s+unroll)%s*(.-)%s*$"
local question <const> = "__warpwright_pragma_%d "

--- What a line of this kind says behind `unroll`, and what is in front of that; nil where it is another line.
function unroll_pragmas.split(line)
  local before, count = line:match(pragma)
  return count, before
end

--- The lines of the text of `clang -E -dD`, empty in the place of definitions; the numbers of those that are pragmas with names in them;
--- and a text that asks what these say, to be preprocessed with `-P`.
function unroll_pragmas.separate(text)
  local lines, pragmas, asked = {}, {}, {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    if line:find "^#define " or line:find "^#undef " then
      asked[#asked + 1] = line
      line = ""
    elseif line:find("pragma", 1, true) then
      local count = unroll_pragmas.split(line)
      if count and count:find "[%a_]" then
        pragmas[#pragmas + 1] = #lines + 1
        asked[#asked + 1] = question:format(#pragmas) .. count
      end
    end
    lines[#lines + 1] = line
  end
  return lines, pragmas, table.concat(asked, "\n") .. "\n"
end

--- The text of such lines, with the answers in these pragmas that `clang -E -P` wrote.
function unroll_pragmas.join(lines, pragmas, answers)
  for number, at in ipairs(pragmas) do
    local _, before = unroll_pragmas.split(lines[at])
    local answer = answers:match(question:format(number) .. "([^\n]*)")
    lines[at] = answer and before .. " +" .. answer or lines[at] -- clang warns of one in brackets
  end
  return table.concat(lines, "\n") .. "\n"
end

return unroll_pragmas
