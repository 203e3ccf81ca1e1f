-- How values are distributed in a run with --histograms: latencies of loads, lengths of queues, resident warps. Which of them are
-- kept, their file, and warpwright histograms, which reads it.
local arguments = require "warpwright.arguments"
local core = require "warpwright.core"
local csv = require "warpwright.csv"
local names = require "warpwright.names"
local stored_run = require "warpwright.stored_run"
local text_table = require "warpwright.sweep.table"

local histograms = {}

histograms.FILE = "histograms.csv"


-- What is asked for ---------------------------------------------------------------------------------------------------

local function refuse(value) names.expected("histograms", "all, or names and patterns of histograms", value) end

local function pattern_of(name) return (name:gsub("%[%d+%]", "[*]")) end

--- The words of "a,b" or { "a", "b" }.
function histograms.words_of(value)
  local words = {}
  if type(value) == "string" then
    for word in value:gmatch "[^,]+" do words[#words + 1] = word end
  elseif type(value) == "table" then
    table.move(value, 1, #value, 1, words)
  end
  for _, word in ipairs(words) do
    if type(word) ~= "string" or word:find "[,\"\n]" then refuse(word) end
  end
  return words[1] and words or refuse(value)
end

--- [*] for every index of a name but those that the word says.
local function pattern_under(name, word)
  local indices = word:gmatch "%[[%d*]+%]"
  return (name:gsub("%[%d+%]", function(index) return indices() == index and index or "[*]" end))
end

--- One for each pattern, as the word has indices.
local function all_of(found, word)
  local list, by_pattern = {}, {}
  for _, of in ipairs(found) do
    local pattern = pattern_under(of.name, word or "")
    if not by_pattern[pattern] then
      by_pattern[pattern] = { name = pattern, unit = of.unit, members = {} }
      list[#list + 1] = by_pattern[pattern]
    end
    table.insert(by_pattern[pattern].members, of.name)
  end
  return list
end

local function no_such_histogram(found, word)
  local known = {}
  for i, of in ipairs(all_of(found)) do known[i] = of.name end
  names.check_indices("histograms", word)
  core.user_error(("histograms: no histogram matches '%s'%s"):format(word, names.did_you_mean(pattern_of(word), known, 3)))
end

local function filtered(found, is_wanted)
  local list = {}
  for _, of in ipairs(found) do
    if is_wanted(of.name) then list[#list + 1] = of end
  end
  return list
end

--- Those of all objects below the paths that match, where the word ends with a * and matches no histogram itself: "sm[*].l1d*".
local function below_objects(found, word)
  if word:sub(-1) ~= "*" or filtered(found, function(name) return core.path_matches(word, name) end)[1] then return {} end
  return filtered(found, function(name)
    for at in name:gmatch "()[.[]" do
      if core.path_matches(word, name:sub(1, at - 1)) then return true end
    end
  end)
end

local function matches_of(found, word)
  local matches = filtered(found, function(name) return core.path_matches(word, name) end)
  if not matches[1] then matches = below_objects(found, word) end
  return matches[1] and matches or no_such_histogram(found, word)
end

--- One for all that match, which count the same.
local function sum_of(found, word)
  local matches, members = matches_of(found, word), {}
  for i, of in ipairs(matches) do
    if of.unit ~= matches[1].unit then
      core.user_error(("histograms: '%s': expected histograms of one unit, got %s (%s) and %s (%s); each:%s keeps them apart"):format(
        word, matches[1].name, matches[1].unit, of.name, of.unit, word))
    end
    members[i] = of.name
  end
  return { name = word, unit = matches[1].unit, members = members }
end

--- histograms.start(sim, wanted): counts from now on. `wanted`: "all", or names and patterns, apart by commas or as a list; a pattern
-- is one histogram, "each:PATTERN" one for each that matches, "OBJECT*" those of an object with all below, as of "all". Returns what
-- histograms.of needs.
function histograms.start(sim, wanted)
  local words, list, seen, gpu = histograms.words_of(wanted), {}, {}, sim:gpu()
  sim.choices.histograms = table.concat(words, ",")
  core.start_histograms(gpu)
  local found = core.histograms(gpu)
  local function add(one)
    if not seen[one.name] then list[#list + 1] = one end
    seen[one.name] = true
  end
  for _, word in ipairs(words) do
    local each = word:match "^each:(.*)$"
    local of_objects = not each and (word == "all" and found or below_objects(found, word)) or {}
    if of_objects[1] then
      for _, one in ipairs(all_of(of_objects, word)) do add(one) end
    elseif each then
      for _, of in ipairs(matches_of(found, each)) do add { name = of.name, unit = of.unit, members = { of.name } } end
    else
      add(sum_of(found, word))
    end
  end
  return list
end

-- What was counted ----------------------------------------------------------------------------------------------------

--- The least value that so many percent of all, rounded up, do not exceed, as far as the buckets tell: the last value of a bucket.
local function percentile(buckets, count, percent)
  local left = (count * percent + 99) // 100
  for _, bucket in ipairs(buckets) do
    left = left - bucket.count
    if left <= 0 then return bucket.last end
  end
end

--- Sets what follows from the buckets, which are in order; the last one ends with the largest value.
local function add_summary(one)
  local count = 0
  for _, bucket in ipairs(one.buckets) do count = count + bucket.count end
  one.count, one.max = count, one.buckets[#one.buckets].last
  one.p50, one.p90, one.p99 = percentile(one.buckets, count, 50), percentile(one.buckets, count, 90), percentile(one.buckets, count, 99)
  return one
end

--- Of several: buckets with the same least value are the same.
local function merged(one, by_name)
  local sum, buckets, at = 0, {}, {}
  for _, name in ipairs(one.members) do
    sum = sum + by_name[name].sum
    for _, bucket in ipairs(by_name[name].buckets) do
      local to = at[bucket.from]
      if to then
        to.count, to.last = to.count + bucket.count, math.max(to.last, bucket.last)
      else
        to = { from = bucket.from, last = bucket.last, count = bucket.count }
        at[bucket.from], buckets[#buckets + 1] = to, to
      end
    end
  end
  table.sort(buckets, function(a, b) return a.from < b.from end)
  return { name = one.name, unit = one.unit, sum = sum, buckets = buckets }
end

--- histograms.of(gpu, chosen = of histograms.start): { { name =, unit =, count =, sum =, p50 =, p90 =, p99 =, max =, buckets = { { from =,
-- last =, count = } ... } } ... } of those that have counted anything.
function histograms.of(gpu, chosen)
  local by_name, list = {}, {}
  for _, of in ipairs(core.histograms(gpu)) do by_name[of.name] = of end
  for _, one in ipairs(chosen) do
    local all = merged(one, by_name)
    if all.buckets[1] then list[#list + 1] = add_summary(all) end
  end
  return list
end

-- The file ------------------------------------------------------------------------------------------------------------

local columns <const> = { "name", "unit", "from", "to", "count" }

--- Of histograms.of().
function histograms.file(list)
  local rows = {}
  for _, one in ipairs(list) do
    for _, bucket in ipairs(one.buckets) do rows[#rows + 1] = { one.name, one.unit, bucket.from, bucket.last + 1, bucket.count } end
  end
  return { name = histograms.FILE, text = text_table.csv(columns, rows) }
end

local function is_count(value, least) return math.type(value) == "integer" and value >= least end

--- May the row follow a bucket that ends with `last`?
local function is_bucket(row, last)
  return row.name and row.unit and is_count(row.from, last + 1) and is_count(row.to, row.from + 1) and is_count(row.count, 1)
end

--- As histograms.of(), without sums; nil: there is no file, false: it is damaged.
function histograms.read(folder)
  local rows, list, seen, last = csv.read(folder .. "/" .. histograms.FILE), {}, {}, nil
  if not rows then return rows end
  for _, row in ipairs(rows) do
    local goes_on = last and last.name == row.name
    if not is_bucket(row, goes_on and last.buckets[#last.buckets].last or -1) or not goes_on and seen[row.name] then return false end
    if not goes_on then
      last = { name = row.name, unit = row.unit, buckets = {} }
      list[#list + 1], seen[row.name] = last, true
    end
    last.buckets[#last.buckets + 1] = { from = row.from, last = row.to - 1, count = row.count }
  end
  for _, one in ipairs(list) do add_summary(one) end
  return list
end

-- The command ---------------------------------------------------------------------------------------------------------

local summary_columns <const> = { "count", "p50", "p90", "p99", "max", "unit", "name" }

local function summary_table(list)
  local rows = {}
  for i, one in ipairs(list) do
    rows[i] = {}
    for c, name in ipairs(summary_columns) do rows[i][c] = one[name] end
  end
  return summary_columns, rows
end

--- Its buckets, with bars: of the largest one 40 characters.
local function bucket_table(one)
  local rows, most, below = {}, 1, 0
  for _, bucket in ipairs(one.buckets) do most = math.max(most, bucket.count) end
  for i, bucket in ipairs(one.buckets) do
    below = below + bucket.count
    rows[i] = { bucket.from, bucket.last, bucket.count, ("%.2f%%"):format(100 * below / one.count), ("#"):rep((40 * bucket.count + most - 1) // most) }
  end
  return { "from", "to", "count", "up to here", one.unit }, rows
end

--- The histograms of that very name, or all that match.
local function chosen_of(list, pattern)
  for _, one in ipairs(list) do
    if one.name == pattern then return { one } end
  end
  return matches_of(list, pattern)
end

local function read_arguments(args, first)
  local _, words = arguments.read("histograms", args, first)
  if words[3] then arguments.error("histograms", "expected RUN and PATTERN, got a third: '%s'", words[3]) end
  local path = words[1] or arguments.error("histograms", "expected the folder of a run, got nothing")
  return { path = path, pattern = words[2] }
end

function histograms.main(args, first)
  local options = read_arguments(args, first)
  local list = histograms.read(options.path)
  if list == nil then
    core.user_error(("histograms: %s: expected a run with --histograms, got no %s"):format(options.path, histograms.FILE))
  elseif not list then
    core.user_error(("histograms: %s/%s: expected what a run has written, got a damaged file"):format(options.path, histograms.FILE))
  end
  local beginning = stored_run.beginning_of(options.path, "histograms")
  if beginning ~= "" then print("counted" .. beginning) end
  if not options.pattern then
    io.write(text_table.text(summary_table(list)))
    return 0
  end
  for i, one in ipairs(chosen_of(list, options.pattern)) do
    print(("%s%s"):format(i > 1 and "\n" or "", one.name))
    io.write(text_table.text(bucket_table(one)))
  end
  return 0
end

return histograms
