-- nvcc's options: what each is for clang, gcc and the linker. docs/nvcc.md lists them.
local options = {}

--- Long names and other spellings.
options.alias = {
  ["--output-file"] = "-o", ["--include-path"] = "-I", ["--define-macro"] = "-D", ["--undefine-macro"] = "-U",
  ["--library-path"] = "-L", ["--library"] = "-l", ["--optimize"] = "-O", ["--gpu-architecture"] = "-arch", ["--gpu-code"] = "-code",
  ["--generate-code"] = "-gencode", ["--compiler-options"] = "-Xcompiler", ["--linker-options"] = "-Xlinker",
  ["--ptxas-options"] = "-Xptxas", ["--nvlink-options"] = "-Xnvlink", ["--archive-options"] = "-Xarchive",
  ["--compiler-bindir"] = "-ccbin", ["--device-debug"] = "-G", ["--debug"] = "-g", ["--generate-line-info"] = "-lineinfo",
  ["--use_fast_math"] = "-use_fast_math", ["--relocatable-device-code"] = "-rdc", ["--device-c"] = "-dc", ["--device-w"] = "-dw",
  ["--device-link"] = "-dlink", ["--compile"] = "-c", ["--ptx"] = "-ptx", ["--cubin"] = "-cubin", ["--fatbin"] = "-fatbin",
  ["--preprocess"] = "-E", ["--generate-dependencies"] = "-M", ["--generate-nonsystem-dependencies"] = "-MM",
  ["--generate-dependencies-with-compile"] = "-MD", ["--generate-nonsystem-dependencies-with-compile"] = "-MMD",
  ["--dependency-output"] = "-MF", ["--dependency-target-name"] = "-MT", ["--generate-dependency-targets"] = "-MP",
  ["--shared"] = "-shared", ["--verbose"] = "-v", ["--dry-run"] = "--dryrun", ["-dryrun"] = "--dryrun", ["--lib"] = "-lib",
  ["--disable-warnings"] = "-w", ["--std"] = "-std", ["--x"] = "-x", ["--machine"] = "-m", ["--cudart"] = "-cudart",
  ["--options-file"] = "-optf", ["--threads"] = "-t", ["--pre-include"] = "-include", ["--system-include"] = "-isystem",
  ["--maxrregcount"] = "-maxrregcount", ["--ftz"] = "-ftz", ["--prec-div"] = "-prec-div", ["--prec-sqrt"] = "-prec-sqrt",
  ["--fmad"] = "-fmad", ["--default-stream"] = "-default-stream", ["--output-directory"] = "-odir", ["--help"] = "-h",
  ["-V"] = "--version", ["--device-as-default-execution-space"] = "-dades", ["--werror"] = "-Werror", ["--Werror"] = "-Werror",
  ["--diag-suppress"] = "-diag-suppress", ["--diag-error"] = "-diag-error", ["--diag-warn"] = "-diag-warn", ["--run"] = "-run",
  ["--keep-dir"] = "-keep-dir", ["--extra-device-vectorization"] = "-extra-device-vectorization", ["--resource-usage"] = "-res-usage",
  ["--save-temps"] = "-keep", ["--keep"] = "-keep", ["--restrict"] = "-restrict", ["--expt-relaxed-constexpr"] = "-expt-relaxed-constexpr",
  ["--expt-extended-lambda"] = "-extended-lambda", ["--extended-lambda"] = "-extended-lambda", ["-expt-extended-lambda"] = "-extended-lambda",
  ["--ptxas-options=-v"] = "-Xptxas", ["--dlink-time-opt"] = "-dlto", ["--objdir-as-tempdir"] = "-objtemp", ["--forward-unknown-to-host-compiler"] = "-forward",
  ["--forward-unknown-opts"] = "-forward",
  ["-forward-unknown-to-host-compiler"] = "-forward", ["--time"] = "-time", ["--Wno-deprecated-gpu-targets"] = "-Wno-deprecated-gpu-targets",
  ["--source-in-ptx"] = "-src-in-ptx", ["--split-compile"] = "-split-compile", ["--no-host-device-initializer-list"] = "-nohdinitlist",
  ["--allow-unsupported-compiler"] = "-allow-unsupported-compiler", ["--display-error-number"] = "-err-no", ["--no-display-error-number"] = "-no-err-no",
  ["--dependency-drive-prefix"] = "-ddp", ["--cuda-home"] = "-cuda-home", ["--gpu-link-options"] = "-Xnvlink",
  ["--compress-mode"] = "-compress-mode", ["--no-compress"] = "-no-compress", ["--ftemplate-depth"] = "-ftemplate-depth",
  ["--ftemplate-backtrace-limit"] = "-ftemplate-backtrace-limit", ["--Ofast-compile"] = "-Ofc", ["--optimization-info"] = "-opt-info",
  ["--keep-device-functions"] = "-keep-device-functions", ["--gen-opt-lto"] = "-gen-opt-lto", ["--dopt"] = "-dopt",
  ["--static-global-template-stub"] = "-static-global-template-stub",
}

--- Options with a value, behind it or behind "=": true; "joined": may also stand right behind the name (-Ifolder); "comma": a list.
options.values = {
  ["-o"] = true, ["-I"] = "joined", ["-D"] = "joined", ["-U"] = "joined", ["-L"] = "joined", ["-l"] = "joined", ["-O"] = "joined",
  ["-arch"] = true, ["-code"] = true, ["-gencode"] = true, ["-Xcompiler"] = "comma", ["-Xlinker"] = "comma", ["-Xptxas"] = "comma",
  ["-Xnvlink"] = "comma", ["-Xarchive"] = "comma", ["-Xcudafe"] = "comma", ["-ccbin"] = true, ["-rdc"] = true, ["-MF"] = true,
  ["-MT"] = true, ["-MQ"] = true, ["-std"] = true, ["-x"] = true, ["-m"] = "joined", ["-cudart"] = true, ["-optf"] = true,
  ["-t"] = "joined", ["-include"] = true, ["-isystem"] = "joined", ["-maxrregcount"] = true, ["-ftz"] = true, ["-prec-div"] = true,
  ["-prec-sqrt"] = true, ["-fmad"] = true, ["-default-stream"] = true, ["-odir"] = true, ["-diag-suppress"] = true, ["-diag-error"] = true,
  ["-diag-warn"] = true, ["-keep-dir"] = true, ["-split-compile"] = true, ["-cudadevrt"] = true, ["-ddp"] = true,
  ["-Werror"] = true, ["-time"] = true, ["-compress-mode"] = true, ["-ftemplate-depth"] = true, ["-ftemplate-backtrace-limit"] = true,
  ["-Ofc"] = true, ["-opt-info"] = true, ["-dopt"] = true, ["-static-global-template-stub"] = true,
}

--- Options without a value.
options.flags = {}
for name in ([[-c -dc -dw -dlink -ptx -cubin -fatbin -E -M -MM -MD -MMD -MP -shared -lib -g -G -lineinfo -use_fast_math -w -v --dryrun -keep
-h --version -run -restrict -expt-relaxed-constexpr -extended-lambda -res-usage -dlto -objtemp -forward
-Wno-deprecated-gpu-targets -Wno-deprecated-declarations -src-in-ptx -nohdinitlist -allow-unsupported-compiler -err-no -no-err-no
-dades -extra-device-vectorization -Wreorder -Wdefault-stream-launch -Wext-lambda-captures-this -Wmissing-launch-bounds -noprof
-pg -static -nostdinc -noeh -hls -no-compress -keep-device-functions -gen-opt-lto]]):gmatch "%S+" do options.flags[name] = true end

--- Without effect here, and harmless: nothing is said.
options.silent = {}
for name in ([[-t -restrict -expt-relaxed-constexpr -extended-lambda -Wno-deprecated-gpu-targets -allow-unsupported-compiler -err-no
-no-err-no -objtemp -forward -cudart -m -diag-suppress -diag-warn -diag-error -Xcudafe -split-compile -Wreorder -Wdefault-stream-launch
-Wext-lambda-captures-this -Wmissing-launch-bounds -nohdinitlist -cudadevrt -Xnvlink -no-compress -compress-mode
-keep-device-functions -gen-opt-lto -dopt -Ofc -opt-info -static-global-template-stub]]):gmatch "%S+" do options.silent[name] = true end

--- Without effect: said once. What would be otherwise on a GPU.
options.dropped = {
  ["-Xptxas"] = "the simulator runs PTX, and no machine code is made",
  ["-maxrregcount"] = "registers are counted from the PTX",
  ["-keep"] = "no intermediate files are kept", ["-keep-dir"] = "no intermediate files are kept",
  ["-res-usage"] = "`warpwright ptx` shows what kernels need",
  ["-dlto"] = "there is no link-time optimisation of device code",
  ["-time"] = "no times are taken", ["-src-in-ptx"] = "PTX has line numbers with -lineinfo",
  ["-extra-device-vectorization"] = "clang decides", ["-noprof"] = "it says nothing to clang", ["-hls"] = "it says nothing to clang",
  ["-noeh"] = "exceptions stay", ["-ddp"] = "paths stay as they are", ["-dades"] = "write __device__",
}

--- Results would be other ones, or there would be none.
options.refused = {
  ["-cubin"] = "no machine code for hardware can be made; -ptx makes PTX",
  ["-run"] = "run the program with: warpwright cuda MACHINE -- ./program",
}

--- Parts of NVIDIA's toolkit that are not here.
options.foreign_libraries = {}
for name in ([[cublas cublasLt cufft cufftw curand cusparse cusolver nvrtc nppc nppial nppicc nppif nppig nppim nppist nppisu nppitc npps
nvjpeg cudnn nccl cupti nvml nvidia-ml cufile cutensor]]):gmatch "%S+" do options.foreign_libraries[name] = true end

--- What our runtime has in it.
options.own_libraries = { cudart = true, cudart_static = true, cudadevrt = true, nvToolsExt = true, gomp = true }

return options
