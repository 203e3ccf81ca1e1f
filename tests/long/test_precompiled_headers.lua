-- Precompiled headers of `warpwright nvcc`: none changes what comes out.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local nvcc = require "tests.lib.nvcc"

harness.write("one.cu", "#include <cstdio>\n__constant__ float scale = 2.0f;\n"
  .. "__global__ void twice(float *x) { x[threadIdx.x] = sqrtf(x[threadIdx.x]) * scale; }\nint main() { std::puts(\"none\"); }\n")

nvcc.test("precompiled headers: the same code, rules and messages as without; damaged ones, and two at once", function()
  harness.write("warns.cu", "#include <cstdio>\n__global__ void k() {}\nint main() { int unused; k<<<1, 1>>>(); return VALUE; }\n")
  harness.write("wrong.cu", "__global__ void k() { sqrtf(\"text\"); }\n")
  nvcc.passes [[
export XDG_CACHE_HOME=$PWD/cache
kept() { ls cache/warpwright/nvcc/*.pch | wc -l; }
fails() { ! nvcc -ptx wrong.cu 2>$1; }
for way in without first second; do
    export CUDA_CACHE_DISABLE=$([ $way = without ] && echo 1 || echo 0)
    nvcc -DVALUE=0 -Xcompiler -Wall -MD -c warns.cu -o $way.o 2>$way.txt && sed 's/^[^ ]*: *//; s/ *\\$//; s/^ *//' $way.d | tr ' ' '\n' | grep . | sort >$way.sorted || exit 1
    [ $way = without ] && [ -e cache ] && exit 2
done
for way in first second; do
    cmp without.o $way.o && cmp without.txt $way.txt && cmp without.sorted $way.sorted || exit 3
done
grep -q 'unused variable' first.txt && [ $(kept) = 2 ] || exit 4
nvcc -DVALUE=1 -Xcompiler -Wall -O1 -I. -c warns.cu -o other.o && [ $(kept) = 2 ] || exit 5
fails with.txt && CUDA_CACHE_DISABLE=1 fails without.txt && cmp with.txt without.txt && [ $(kept) = 3 ] || exit 6
for file in cache/warpwright/nvcc/*.pch; do head -c 100000 $file >cut && cp cut $file; done
nvcc -DVALUE=0 -Xcompiler -Wall -c warns.cu -o cut.o && cmp without.o cut.o && [ $(kept) = 1 ] || exit 7
rm -r cache
nvcc -ptx one.cu -o one1.ptx & nvcc -ptx one.cu -o one2.ptx & wait
cmp one1.ptx one2.ptx && [ $(kept) = 1 ] && ! ls cache/warpwright/nvcc | grep tmp || exit 8
XDG_CACHE_HOME=/dev/null nvcc -ptx one.cu -o one3.ptx && cmp one1.ptx one3.ptx || exit 9
]]
end)

nvcc.test("precompiled headers: one that has changed counts, and one in a folder of the program's, also a new one", function()
  harness.write("changed.cu", "#if defined(CHANGED) != WANTED_CHANGED || defined(HIDES) != WANTED_HIDES\n#error other headers\n#endif\n")
  nvcc.passes(([[
export WARPWRIGHT_HOME='%s' XDG_CACHE_HOME=$PWD/cache2
mkdir -p copied/bin copied/share/warpwright hiding && cp "$program" copied/bin && cp -r "$toolkit" copied/share/warpwright
compile() { copied/bin/warpwright nvcc -ptx -Ihiding -DWANTED_CHANGED=$1 -DWANTED_HIDES=$2 changed.cu || exit 1; }
compile 0 0; compile 0 0
printf '#include_next <string.h>\n#define HIDES\n' >hiding/string.h
compile 0 1; compile 0 1
rm hiding/string.h
compile 0 0
echo '#define CHANGED' >>copied/share/warpwright/cuda/include/vector_functions.h
compile 1 0; compile 1 0; [ $(ls cache2/warpwright/nvcc/*.pch | wc -l) = 1 ]
]]):format(core.real_path "."))
end)

harness.finish()
