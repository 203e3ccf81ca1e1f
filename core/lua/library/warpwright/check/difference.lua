-- What differs between the statistics of two runs that should be the same. Rows are { name, value } each, in their order.
local difference = {}

--- Those of a stats.txt; their values are texts.
function difference.rows_of_text(text)
  local rows = {}
  for name, value in text:gmatch "([^\n ]+) +([^\n ]+)[^\n]*\n" do rows[#rows + 1] = { name, value } end
  return rows
end

--- Those of a result.
function difference.rows_of_result(result)
  local rows = {}
  for name, value in result:stats() do rows[#rows + 1] = { name, value } end
  return rows
end

local function is_same(x, y) return x == y or x ~= x and y ~= y end

--- The names that both have, or one of them: of `want` in order, then those that `got` alone has.
local function names_of(want, got, has_own)
  local list, values = {}, { {}, {} }
  for side, rows in ipairs { want, got } do
    for _, row in ipairs(rows) do
      local is_new = not values[1][row[1]]
      values[side][row[1]] = row[2]
      if side == 1 or is_new and not has_own then list[#list + 1] = row[1] end
    end
  end
  return list, values[1], values[2]
end

local function is_of_run(name) return name:find "^run%." or name:find "^launch%[" end

--- Nil where nothing differs, else { names of those that differ, those of objects first, all = how many were compared }, each with
-- values in `want` and `got`, nil where a run has none. `has_own`: rows that `got` alone has, such as the counters of its policy, do
-- not count.
function difference.of(got, want, has_own)
  local list, wanted, values = names_of(want, got, has_own)
  local of_objects, of_runs = {}, {}
  for _, name in ipairs(list) do
    if not is_same(wanted[name], values[name]) then table.insert(is_of_run(name) and of_runs or of_objects, name) end
  end
  local found = table.move(of_runs, 1, #of_runs, #of_objects + 1, of_objects)
  found.all, found.want, found.got = #list, wanted, values
  return found[1] and found or nil
end

--- "sm[0].l1d.hits: expected 12, got 13; 40 of 5391 statistics differ"
function difference.text(found)
  local name = found[1]
  return ("%s: expected %s, got %s; %d of %d statistics differ"):format(name, tostring(found.want[name] or "no such row"),
    tostring(found.got[name] or "no such row"), #found, found.all)
end

return difference
