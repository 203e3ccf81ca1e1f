-- The text of docs/conformance.md: before the tables of forms, and behind them.
local page = {}

page.head = [[
# Conformance: every form against a reference

`scripts/conformance --page docs/conformance.md` has written this page.

Every form of instructions that the decoder takes was executed by kernels on a small machine, and
its results compared with a reference that was written from the text of the PTX ISA and shares no
code with the simulator: integers in 128 bits, floating point by exact arithmetic on integers that
is rounded once. Each form has all pairs of edge values and 10,000 seeded random cases; of a single
operand of 16 bits all values ([how it is made](../tests/README.md#conformance)).

- Approximations may differ from the value in long double by the error that the PTX ISA documents:
  `ex2`, `div.full` and `div.approx` 2 units in the last place, `rcp` 1, `sqrt` 2^-23, `rsqrt`
  2^-22.9, `tanh` 2^-11; `lg2` 2^-22; `sin` and `cos` 2^-20.5 up to 2 pi, 2^-14.7 up to 100 pi, and
  beyond that anything from -1 to 1; of f16 and bf16 `ex2` 2^-9.9 and 2^-7, `tanh` 2^-10.9 and 2^-8.
  `div.approx` by more than 2^126 gives zero, and NaN where infinity is divided.
- Where the ISA leaves open which NaN or which zero comes out, any is accepted. Division by zero of
  integers, and lanes of `shfl` that read from a lane which does not take part, are left out.
- `mma` has random matrices, 10,000 elements of each form: integers exactly, sums of floats within
  2^-23 of the sum of all magnitudes (f32), half a unit in the last place (f16), 2^-50 (f64).
- Every other warp executes a form in two parts, under a predicate and under its inverse. The last
  of several sources is a register, and in further cases a constant.
- Random programs have nested branches and loops with break and continue, `brx.idx`, regions of
  blocks that jump to each other, calls, recursion, calls through pointers, predicated instructions,
  threads that leave early, and barriers at which threads exchange values. Their interpreter
  executes thread by thread; a case is a thread. Programs that take a thread more than 20,000 steps
  are left out.
- Barriers stand where the threads of a warp are together: a warp arrives with the first of its
  lanes, as on GPUs before Volta, so `barrier.sync` in both sides of a branch that divides a warp
  does not wait for the other side.
- Loads, stores and atomics of a thread have a place of its own, in each space and by generic
  addresses. `atom.add.f32` flushes subnormal numbers in global memory and keeps them in shared
  memory, as the ISA says.
- `.ftz` makes zero what is tiny before it is rounded, as [silicon](#on-silicon) does.
- Registers of `cvt`, `ld` and `st` are as wide as the type, or wider.
- Video instructions have three selections of their operands' parts each.

The parser and the loader have read 3,397,833 changed texts in an hour without a finding
(`build/fuzz-clang/fuzz_ptx -max_total_time=3600`, with the seeds and the PTX of `workloads`;
[fuzzing](../tests/README.md#fuzzing)).

]]

page.silicon = [[
## On silicon

`scripts/conformance --gpu --cases 1000` executed the same kernels on an NVIDIA H200 (sm_90, driver
580, which translated the PTX), in 15 processes (`--part K/15`), twice: 54,724,280 cases of forms.
No case differs of integer arithmetic, `mul24`, carry chains, `dp4a`, logic, shifts, `mov`, `setp`,
`selp`, `slct`, `testp`, conversions from and to integers, loads but those with `.nc`, stores,
atomics, special registers, addresses, and video instructions on vectors. Of 300 random programs the
first time 177 were refused for their text, which was at fault and is mended; of those that ran, one
differs, the second time.

Mended since, in the simulator and the reference: `.ftz` of `mul`, `fma`, `div`, `rcp` and
`cvt.f32.f64` makes zero what is tiny before it is rounded, although it would be rounded to the
smallest normal number. Silicon had no such case of `fma.f32` and `rcp`; and its cases do not tell
whether it looks before it rounds, or rounds with an exponent without limits and looks then: both
have cases among the edge values now, for the next time.

What differs, and what the simulator does about it:

| forms | on silicon | reason |
|---|---|---|
| `set.f32`, `set.f16`, `set.bf16` | of most sources 1.0 comes out as 1065353216.0, rounded to the type, or 0 | the driver's translator converts the bits of 1.0; the ISA says 1.0, and so does the simulator |
| video instructions on scalars: results merged into a part of c, with a second operation, `vshl`, `vmad` with a scale | 12 % of all cases differ | emulated on this chip; merging contradicts the ISA's pseudo-code, in which `.sat` clamps to the part and the others come from c. The simulator keeps to it |
| `bfe.u64`, `bfe.s64`, `bfi.b64` with a position or length above 255 | all bits count | the ISA's pseudo-code takes the low 8 bits, and so does the simulator |
| `fns.b32` with an offset of -2^31 | 0, where the simulator says that there is no such bit | open: the ISA does not say what becomes of offsets beyond 32 |
| `cvt.rp.ftz.f16.f32`, `cvt.rm.ftz.f16.f32` of subnormal numbers | rounded away from zero | the ISA flushes sources of f32 |
| `cvt.rna.tf32.f32` of the NaN 0x7f800001 | infinity | NaN is rounded as if it was a number; the ISA says that it stays NaN |
| `tanh.approx.bf16` | 2 of 65,536 are farther from the value than 2^-8, by less than 2^-22 | the ISA's bound is rounded |
| `mma` with f16 accumulators of products of e4m3 and e5m2 | 20 to 25 % are not the nearest f16, by a few units in the last place where much cancels | the ISA asks for sums of at least the accumulator's precision, in any order and rounding: with `--gpu` sums may be off by 2^-10 (f16) and 2^-22 (f32) of the sum of all magnitudes. The simulator rounds once |
| `mma` with f32 accumulators | of two forms one element each of 1024 is off by more than 2^-23 of the magnitudes | likewise |
| `sin`, `cos` beyond 100 pi | off by more than 2^-14.7 | the ISA has no bound there |
| `ld.global.nc` of what the kernel has stored | what was there before | not defined; the comparison now leaves the same there in a launch before |
| f64 NaN | a source that is NaN comes through, quiet; without one it is 0xfff8000000000000 | open. The simulator has the latter for all |
| conversions of NaN: to f64, from f64, from bf16; to tf32 | the upper bits of the source's NaN come through, quiet but for bf16 to f32; to tf32 mostly 0x7fffe000 | open. The simulator has one NaN for each format |
| `neg`, `abs` of NaN: f16, bf16; signalling ones of f32; f64 | 0x7fff; 0x7fffffff; `neg` and `abs` of f64 keep its sign | open. The simulator changes the sign bit |
| a random program, the second of seed 5 | thread 3 of CTA 1 has 0xdff3 in register 0, where interpreter and simulator have 0xf8ac627a | not found. It reads no register before it is written, shares no place without a barrier, and arrives at each barrier with all threads |

469 forms were refused. sm_90 does not have them (mixed precision, `f32x2`, three operands of `min`
and `max`, `redux.f32`, floats of 6 bits), or the simulator takes more than the ISA: `setp` of
single halves with two results, `cvt.sat` of some types, cache hints with any type, `vote` and
`shfl` without `.sync`.
]]

return page
