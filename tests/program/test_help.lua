-- What the program says of itself: --help of each command, the man page, and completion in bash.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local help = require "warpwright.help"

local program <const> = core.real_path(arg[-1])

harness.test("every command has its help, and the program's names each of them", function()
  local _, all = harness.run "--help"
  for _, command in ipairs(help.commands) do
    local status, text = harness.run(command.word, "--help")
    harness.equal(status, 0, text)
    harness.contains(text, "usage: warpwright " .. command.usage[1])
    for _, usage in ipairs(command.usage) do harness.contains(all, usage) end
  end
end)

harness.test("help and help COMMAND say what --help says; a resume is an option of run", function()
  local _, all = harness.run "--help"
  local _, run = harness.run("run", "--help")
  local status, text = harness.run "help"
  harness.equal(status .. text, "0" .. all)
  status, text = harness.run("help", "run")
  harness.equal(status .. text, "0" .. run)
  harness.refused("help: no command matches 'sweeep'; did you mean sweep?", "help", "sweeep")
  harness.refused("help: expected one command, got a second: 'cuda'", "help", "run", "cuda")
  harness.refused("resume: expected a command or a script, got no such file; did you mean run --resume?", "resume", "out/a")
end)

harness.test("--help is heard behind other words of a command, not of a program or of nvcc", function()
  local _, help_of_run = harness.run("run", "--help")
  for _, words in ipairs { { "gtx480", "kmeans", "--help" }, { "--policy", "gto", "--help", "gtx480" }, { "gtx480", "--policy", "--help" } } do
    local status, text = harness.run("run", table.unpack(words))
    harness.equal(status, 0, text)
    harness.equal(text, help_of_run)
  end
  harness.refused("cuda: cannot start './missing'", "cuda", "gtx480", "--", "./missing", "--help")
  harness.contains(select(2, harness.run("nvcc", "missing.cu", "--help")), "missing.cu")
end)

harness.test("the options in the help of run and cuda are those that runs take, or of a kernel", function()
  local run, cuda, run_kernel = require "warpwright.run", require "warpwright.cuda", require "warpwright.run_kernel"
  local taken = {}
  for _, list in ipairs { run.options, cuda.options } do
    for _, name in ipairs(list) do taken[name] = true end
  end
  for _, word in ipairs { "run", "cuda" } do
    for _, option in ipairs(help.find(word).options) do
      local is_taken = taken[option.name:sub(3):gsub("-", "_")] or word == "run" and run_kernel.is_option(option.name)
      assert(is_taken, ("%s %s"):format(word, option.name))
    end
  end
end)

harness.test("a second --policy is refused, since policies are joined by '+'", function()
  harness.refused("run: --policy: expected it once, with policies joined by '+': 'gto+ccws'", "run", "gtx480", "vecadd", "--policy", "gto",
    "--policy", "ccws")
end)

harness.test("every command refuses an unknown option, one without its value, and a value behind one that has none", function()
  for _, command in ipairs(help.commands) do
    if command.options[1] and command.word ~= "nvcc" then
      local hint = ("; see warpwright %s --help"):format(command.word)
      local near = command.options[1].name .. "x"
      harness.refused(("%s: unknown option '%s'; did you mean %s? Available: "):format(command.word, near, command.options[1].name), command.word, near)
      for _, option in ipairs(command.options) do
        local message, given = ("%s: %s: expected a value, got nothing"):format(command.word, option.name), option.name
        if not option.value then
          message, given = ("%s: %s: expected no value, got 'x'"):format(command.word, option.name), option.name .. "=x"
        end
        harness.refused(message .. hint, command.word, given)
      end
    end
  end
end)

harness.test("lines of help fit 120 columns", function()
  for _, arguments in ipairs { { "--help" }, { "run", "--help" }, { "cuda", "--help" } } do
    local _, text = harness.run(table.unpack(arguments))
    for line in text:gmatch "[^\n]+" do assert(#line <= 132, line) end
  end
end)

harness.test("the man page is that of today's options, and groff has nothing to say of it", function()
  local status, output = harness.run("scripts/man_page.lua", "--check")
  harness.equal(status, 0, output)
  local pipe = assert(io.popen "command -v groff >/dev/null && groff -man -Tutf8 -ww docs/warpwright.1 2>&1 >/dev/null")
  harness.equal(pipe:read "a", "", "warnings")
  pipe:close()
end)

--- What may stand in the place of the last of these words.
local function complete(...)
  local status, output = harness.run("--complete", ...)
  harness.equal(status, 0, output)
  return output
end

harness.test("completion knows commands, machines, workloads, policies, their parameters, and parameters of the machine", function()
  harness.equal(complete "sw", "sweep\n")
  harness.equal(complete("run", "gtx480_ma"), "gtx480_mascar\n")
  harness.contains(complete("run", "gallery/"), "gallery/cluster_l15\n")
  harness.equal(complete("run", "gtx480", "vec"), "vecadd\n")
  harness.equal(complete("run", "gtx480", "vecadd", "--policy", "swl"), "swl\n")
  harness.equal(complete("run", "gtx480", "vecadd", "--policy", "gto+swl:"), "gto+swl:limit=\n")
  harness.equal(complete("run", "gtx480", "vecadd", "--set", "sm[*].l1d.si"), "sm[*].l1d.size=\n")
  harness.equal(complete("run", "gtx480", "vecadd", "--si"), "--size\n")
  harness.equal(complete("run", "gtx480", "vecadd", "--size", "me"), "medium\n")
  harness.contains(complete("draw", "gtx480_m"), "gtx480_mascar\n", "gtx480_mesh\n")
  harness.contains(complete("--describe", "L"), "L1\n", "L2\n")
  harness.equal(complete("nonsense", "x"), "")
end)

--- COMPREPLY of bash for a command line.
local function in_bash(line)
  local script = harness.write("complete.sh", ([==[
warpwright() { '%s' "$@"; }
source scripts/completions/warpwright.bash
COMP_LINE='%s' COMP_POINT=${#COMP_LINE}
COMP_WORDBREAKS=$' \t\n"\'@><=;|&(:'
parts=$(sed 's/\([=:]\)/ \1 /g' <<<"$COMP_LINE")
read -r -a COMP_WORDS <<<"$parts"
[[ $COMP_LINE == *' ' || $COMP_LINE == *[=:] ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_warpwright
printf '%%s\n' "${COMPREPLY[@]}"
]==]):format(program, line))
  local pipe = assert(io.popen(("bash '%s' 2>&1"):format(script)))
  local output = pipe:read "a"
  pipe:close()
  return output
end

harness.test("bash completes words, and behind ':' and '=' only what follows", function()
  harness.equal(in_bash "warpwright run gtx480 vec", "vecadd\n")
  harness.contains(in_bash "warpwright run ", "gtx480\n")
  harness.equal(in_bash "warpwright run gtx480 vecadd --policy swl:li", "limit=\n")
end)

harness.test("a misspelt command or option is told which was meant", function()
  harness.refused("rnu: expected a command or a script, got no such file; did you mean run?\n", "rnu", "gtx480", "kmeans")
  harness.refused("swep: expected a command or a script, got no such file; did you mean sweep?\n", "swep", "l1.lua")
  harness.refused("./swep: expected a command or a script, got no such file; see warpwright --help\n", "./swep")
  harness.refused("expected an option or a command, got '--descrbe'; did you mean --describe?\n", "--descrbe", "L1")
  harness.refused("or a script, got '--frobnicate'; see warpwright --help\n", "--frobnicate")
end)

harness.finish()
