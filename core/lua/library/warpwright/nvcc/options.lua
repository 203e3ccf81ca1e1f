-- nvcc's options: what each is for clang, gcc and the linker. docs/nvcc.md lists them.
local options = {}

--- Long names and other spellings, but for those with two dashes in the place of one.
options.alias = {
  ["--output-file"] = "-o", ["--include-path"] = "-I", ["--define-macro"] = "-D", ["--undefine-macro"] = "-U", ["--library-path"] = "-L",
  ["--library"] = "-l", ["--optimize"] = "-O", ["--gpu-architecture"] = "-arch", ["--gpu-code"] = "-code",
  ["--generate-code"] = "-gencode", ["--compiler-options"] = "-Xcompiler", ["--linker-options"] = "-Xlinker",
  ["--ptxas-options"] = "-Xptxas", ["--nvlink-options"] = "-Xnvlink", ["--archive-options"] = "-Xarchive",
  ["--compiler-bindir"] = "-ccbin", ["--device-debug"] = "-G", ["--debug"] = "-g", ["--generate-line-info"] = "-lineinfo",
  ["--relocatable-device-code"] = "-rdc", ["--device-c"] = "-dc", ["--device-w"] = "-dw", ["--device-link"] = "-dlink",
  ["--compile"] = "-c", ["--preprocess"] = "-E", ["--generate-dependencies"] = "-M", ["--generate-nonsystem-dependencies"] = "-MM",
  ["--generate-dependencies-with-compile"] = "-MD", ["--generate-nonsystem-dependencies-with-compile"] = "-MMD",
  ["--dependency-output"] = "-MF", ["--dependency-target-name"] = "-MT", ["--generate-dependency-targets"] = "-MP", ["--verbose"] = "-v",
  ["--dry-run"] = "--dryrun", ["-dryrun"] = "--dryrun", ["--disable-warnings"] = "-w", ["--machine"] = "-m",
  ["--options-file"] = "-optf", ["--threads"] = "-t", ["--pre-include"] = "-include", ["--system-include"] = "-isystem",
  ["--output-directory"] = "-odir", ["--help"] = "-h", ["-V"] = "--version", ["--device-as-default-execution-space"] = "-dades",
  ["--werror"] = "-Werror", ["--resource-usage"] = "-res-usage", ["--save-temps"] = "-keep", ["-save-temps"] = "-keep",
  ["--expt-extended-lambda"] = "-extended-lambda", ["-expt-extended-lambda"] = "-extended-lambda", ["--dlink-time-opt"] = "-dlto",
  ["--objdir-as-tempdir"] = "-objtemp", ["--forward-unknown-to-host-compiler"] = "-forward", ["--forward-unknown-opts"] = "-forward",
  ["-forward-unknown-to-host-compiler"] = "-forward", ["--source-in-ptx"] = "-src-in-ptx",
  ["--no-host-device-initializer-list"] = "-nohdinitlist", ["--display-error-number"] = "-err-no",
  ["--no-display-error-number"] = "-no-err-no", ["--dependency-drive-prefix"] = "-ddp", ["--gpu-link-options"] = "-Xnvlink",
  ["--Ofast-compile"] = "-Ofc", ["--optimization-info"] = "-opt-info", ["--fatbin-options"] = "-Xfatbin",
  ["--list-gpu-arch"] = "-arch-ls", ["--list-gpu-code"] = "-code-ls", ["--no-exceptions"] = "-noeh",
  ["--no-host-device-move-forward"] = "-nohdmoveforward", ["--archiver-binary"] = "-arbin", ["--libdevice-directory"] = "-ldir",
  ["--target-directory"] = "-target-dir", ["--input-drive-prefix"] = "-idp", ["--drive-prefix"] = "-dp",
  ["--host-linker-script"] = "-hls", ["--augment-host-linker-script"] = "-aug-hls", ["--extensible-whole-program"] = "-ewp",
  ["--dont-use-profile"] = "-noprof", ["--profile"] = "-pg", ["--entries"] = "-e", ["--no-device-link"] = "-nodlink",
  ["--clean-targets"] = "-clean", ["--brief-diagnostics"] = "-brief-diag",
}

--- What clang 14 compiles for.
options.architectures = { 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86 }

--- Options with a value, behind it or behind "=": true; "joined": may also stand right behind the name (-Ifolder); "comma": a list.
options.values = {
  ["-o"] = "joined", ["-I"] = "joined", ["-D"] = "joined", ["-U"] = "joined", ["-L"] = "joined", ["-l"] = "joined", ["-O"] = "joined",
  ["-arch"] = true, ["-code"] = true, ["-gencode"] = true, ["-Xcompiler"] = "comma", ["-Xlinker"] = "comma", ["-Xptxas"] = "comma",
  ["-Xnvlink"] = "comma", ["-Xarchive"] = "comma", ["-Xcudafe"] = "comma", ["-ccbin"] = true, ["-rdc"] = true, ["-MF"] = true,
  ["-MT"] = true, ["-MQ"] = true, ["-std"] = true, ["-x"] = "joined", ["-m"] = "joined", ["-cudart"] = true, ["-optf"] = true,
  ["-t"] = "joined", ["-include"] = true, ["-isystem"] = "joined", ["-maxrregcount"] = true, ["-ftz"] = true, ["-prec-div"] = true,
  ["-prec-sqrt"] = true, ["-fmad"] = true, ["-default-stream"] = true, ["-odir"] = true, ["-diag-suppress"] = true, ["-diag-error"] = true,
  ["-diag-warn"] = true, ["-keep-dir"] = true, ["-split-compile"] = true, ["-cudadevrt"] = true, ["-ddp"] = true,
  ["-Werror"] = true, ["-time"] = true, ["-compress-mode"] = true, ["-ftemplate-depth"] = true, ["-ftemplate-backtrace-limit"] = true,
  ["-Ofc"] = true, ["-opt-info"] = true, ["-dopt"] = true, ["-static-global-template-stub"] = true,
  ["-Xfatbin"] = "comma", ["-Xcicc"] = "comma", ["-arbin"] = true, ["-ldir"] = true, ["-target-dir"] = true, ["-idp"] = true, ["-dp"] = true,
  ["-hls"] = true, ["-e"] = true, ["-qpp-config"] = true, ["-frandom-seed"] = true, ["-jump-table-density"] = true,
  ["-device-stack-protector"] = true, ["-fdevice-time-trace"] = true, ["-split-compile-extended"] = true, ["-brief-diag"] = true,
  ["-run-args"] = true,
}

--- Options without a value.
options.flags = {}
for name in ([[-c -dc -dw -dlink -ptx -cubin -fatbin -E -M -MM -MD -MMD -MP -shared -lib -g -G -lineinfo -use_fast_math -w -v --dryrun -keep
-h --version -run -restrict -expt-relaxed-constexpr -extended-lambda -res-usage -dlto -objtemp -forward
-Wno-deprecated-gpu-targets -Wno-deprecated-declarations -src-in-ptx -nohdinitlist -allow-unsupported-compiler -err-no -no-err-no
-dades -extra-device-vectorization -Wreorder -Wdefault-stream-launch -Wext-lambda-captures-this -Wmissing-launch-bounds -noprof
-pg -static -nostdinc -noeh -no-compress -keep-device-functions -gen-opt-lto -cuda -optix-ir -ltoir -link -nodlink
-clean -ewp -aug-hls -use-local-env -no-align-double -nohdmoveforward -jobserver -minimal -arch-ls -code-ls]]):gmatch "%S+" do options.flags[name] = true end

--- What nvcc defines where an option is given.
options.macros = {
  ["-extended-lambda"] = "__CUDACC_EXTENDED_LAMBDA__", ["-expt-relaxed-constexpr"] = "__CUDACC_RELAXED_CONSTEXPR__", ["-G"] = "__CUDACC_DEBUG__",
}

--- Without effect here, but for such macros, and harmless: nothing is said.
options.silent = {}
for name in ([[-t -restrict -expt-relaxed-constexpr -extended-lambda -Wno-deprecated-gpu-targets -allow-unsupported-compiler -err-no
-no-err-no -objtemp -forward -cudart -diag-suppress -diag-warn -diag-error -Xcudafe -split-compile -Wreorder -Wdefault-stream-launch
-Wext-lambda-captures-this -Wmissing-launch-bounds -nohdinitlist -cudadevrt -Xnvlink -no-compress -compress-mode
-keep-device-functions -gen-opt-lto -dopt -Ofc -opt-info -static-global-template-stub -Xfatbin -ldir -target-dir -qpp-config
-frandom-seed -jump-table-density -split-compile-extended -brief-diag -nodlink -ewp -use-local-env -nohdmoveforward -jobserver -minimal]]):gmatch "%S+" do options.silent[name] = true end

--- Without effect: said once. What would be otherwise on a GPU.
options.dropped = {
  ["-Xptxas"] = "the simulator runs PTX, and no machine code is made",
  ["-maxrregcount"] = "registers are counted from the PTX",
  ["-res-usage"] = "`warpwright ptx` shows what kernels need",
  ["-dlto"] = "there is no link-time optimisation of device code",
  ["-time"] = "no times are taken", ["-src-in-ptx"] = "PTX has line numbers with -lineinfo",
  ["-extra-device-vectorization"] = "clang decides", ["-noprof"] = "it says nothing to clang", ["-hls"] = "the device code of a program is linked when it starts",
  ["-aug-hls"] = "the device code of a program is linked when it starts", ["-Xcicc"] = "clang makes the PTX",
  ["-e"] = "all kernels are compiled", ["-device-stack-protector"] = "PTX has no stack", ["-fdevice-time-trace"] = "no times are taken",
  ["-no-align-double"] = "it is for hosts of 32 bits", ["-idp"] = "paths stay as they are", ["-dp"] = "paths stay as they are",
  ["-noeh"] = "exceptions stay", ["-ddp"] = "paths stay as they are", ["-dades"] = "write __device__",
}

--- Results would be other ones, or there would be none.
options.refused = {
  ["-cubin"] = "no machine code for hardware can be made; -ptx makes PTX",
  ["-cuda"] = "clang makes no C++ of CUDA programs; -c makes an object, -ptx PTX",
  ["-optix-ir"] = "there is no OptiX; -ptx makes PTX",
  ["-ltoir"] = "there is no link-time optimisation of device code; -ptx makes PTX",
  ["-clean"] = "remove the files that the command made",
  ["-run-args"] = "run the program with: warpwright cuda MACHINE -- ./program",
  ["-run"] = "run the program with: warpwright cuda MACHINE -- ./program",
}

--- Parts of NVIDIA's toolkit that are not here.
options.foreign_libraries = {}
for name in ([[cublas cublasLt cufft cufftw curand cusparse cusolver nvrtc nppc nppial nppicc nppif nppig nppim nppist nppisu nppitc npps
nvjpeg cudnn nccl cupti nvml nvidia-ml cufile cutensor]]):gmatch "%S+" do options.foreign_libraries[name] = true end

--- Headers that are nobody's of the toolkit, or of what no simulated machine has.
options.foreign_headers = {}
for name in ([[helper_cuda helper_cuda_drvapi helper_functions helper_image helper_math helper_multiprocess helper_string helper_timer nvrtc_helper
cutil cutil_inline cutil_math]]):gmatch "%S+" do
  options.foreign_headers[name .. ".h"] = "it is of NVIDIA's samples, not of its toolkit; -I names the folder where it is"
end
for name in ([[cuda_gl_interop cudaGL cuda_egl_interop cudaEGL cuda_vdpau_interop cudaVDPAU]]):gmatch "%S+" do
  options.foreign_headers[name .. ".h"] = "there is no graphics to share memory with"
end
options.foreign_headers["cudaTypedefs.h"] = "no simulated machine has tensor maps; of other functions decltype(&cuInit) is such a type"

--- What our runtime has in it.
options.own_libraries = { cudart = true, cudart_static = true, cudadevrt = true, nvToolsExt = true, gomp = true }

return options
