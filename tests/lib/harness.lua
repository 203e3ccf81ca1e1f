-- What the end-to-end tests share: named tests that go on after a failure, a folder for their files, and the program run
-- as users run it. A test file is a script: warpwright tests/ROOM/test_NAME.lua [TEXT]; its exit status is 0 or 1.
-- With TEXT it runs those tests alone whose names contain it.
local harness = {}

local program, only, is_long_run = arg[-1], arg[1], os.getenv "WARPWRIGHT_LONG_TESTS" ~= nil
local failures, passes, skips = 0, 0, 0
local folder

--- A folder of this test file's own, removed by finish().
function harness.folder()
  if not folder then
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
  end
  return folder
end

--- Writes a file into that folder; returns its path.
function harness.write(name, text)
  local path = harness.folder() .. "/" .. name
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

function harness.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

--- Runs the program with these arguments; returns its exit status, and what it wrote to both outputs.
function harness.run(...) return harness.run_with("", ...) end

--- The same with variables of the environment, "NAME=value NAME=value".
function harness.run_with(environment, ...)
  local words = { environment, "'" .. program .. "'" }
  for _, word in ipairs { ... } do words[#words + 1] = "'" .. tostring(word):gsub("'", [['\'']]) .. "'" end
  local pipe = assert(io.popen(table.concat(words, " ") .. " 2>&1"))
  local output = pipe:read("a")
  local _, kind, status = pipe:close()
  return kind == "exit" and status or "killed by signal " .. tostring(status), output
end

function harness.equal(got, want, what)
  if got ~= want then
    error(("%s: expected %s, got %s"):format(what or "value", tostring(want), tostring(got)), 2)
  end
end

--- An error unless `text` contains every one of the plain texts.
function harness.contains(text, ...)
  for _, wanted in ipairs { ... } do
    if not text:find(wanted, 1, true) then error(("'%s' is not in: %s"):format(wanted, text), 2) end
  end
end

--- Runs the program, which must refuse these arguments: exit status 2, and `wanted` in what it says. Returns that.
function harness.refused(wanted, ...)
  local status, output = harness.run(...)
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, wanted)
  return output
end

--- An error unless the texts are the same; it names the first line that differs.
function harness.same_text(got, want, what)
  if got == want then return end
  local wanted = want:gmatch "[^\n]+"
  for line in got:gmatch "[^\n]+" do
    local other = wanted() or "nothing"
    if line ~= other then error(("%s: expected '%s', got '%s'"):format(what or "text", other, line), 2) end
  end
  error(("%s: lines are missing"):format(what or "text"), 2)
end

local Skipped = {}

--- In a test: what it needs is not there or not permitted here. It counts neither as passed nor as failed.
function harness.skip(why) error(setmetatable({ why = why }, Skipped)) end

local function run_test(name, body)
  if only and not name:find(only, 1, true) then return end
  local ok, problem = pcall(body)
  if getmetatable(problem) == Skipped then
    skips = skips + 1
    print(("SKIPPED %s: %s"):format(name, problem.why))
  elseif ok then
    passes = passes + 1
  else
    failures = failures + 1
    print(("FAILED %s: %s"):format(name, tostring(problem)))
  end
end

--- Runs one test.
function harness.test(name, body)
  if not is_long_run then run_test(name, body) end
end

--- One that takes longer than a change should wait for: it runs in `scripts/test --long`, and where it is named.
function harness.long_test(name, body)
  if is_long_run or only then run_test(name, body) end
end

--- Ends the test file.
function harness.finish()
  if folder then os.execute("rm -rf " .. folder) end
  if only and passes + failures + skips == 0 then
    print(("%s: expected (a part of) the name of a test, got '%s'"):format(arg[0], only))
    failures = 1
  end
  print(("%d passed, %d failed%s"):format(passes, failures, skips > 0 and (", %d skipped"):format(skips) or ""))
  os.exit(failures == 0 and 0 or 1)
end

return harness
