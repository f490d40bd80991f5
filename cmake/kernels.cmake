# Compiles kernels in CUDA C to PTX, with clang: include/heddle/device.h explains the flags.
find_program(HEDDLE_CLANG NAMES clang clang-14 REQUIRED DOC "clang, which compiles the kernels to PTX")
get_filename_component(kernel_include ${CMAKE_CURRENT_LIST_DIR}/../include ABSOLUTE)
set(kernel_flags -x cuda -std=c++14 --cuda-device-only --cuda-path=/nonexistent
  -nocudainc -nocudalib -Xclang -disable-lifetime-markers
  -mllvm -disable-block-placement -O2 -Wall -Wextra -I ${kernel_include})
if(HEDDLE_WERROR)
  list(APPEND kernel_flags -Werror)
endif()

# compile_kernels(KERNEL PTX EMBED SYMBOL SM VERSION [FLAG...]): compiles KERNEL to PTX for compute capability SM and PTX VERSION, both
# without a point, and writes EMBED, a C file that contains the text as SYMBOL.
function(compile_kernels kernel ptx embed symbol sm version)
  cmake_path(RELATIVE_PATH kernel BASE_DIRECTORY ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.. OUTPUT_VARIABLE name)
  add_custom_command(OUTPUT ${ptx}
    COMMAND ${HEDDLE_CLANG} ${kernel_flags} ${ARGN} --cuda-gpu-arch=sm_${sm} -Xclang -target-feature -Xclang +ptx${version}
      -MD -MF ${embed}.d -S ${kernel} -o ${ptx}
    DEPENDS ${kernel} DEPFILE ${embed}.d COMMENT "Compiling ${name}" VERBATIM)
  file(CONFIGURE OUTPUT ${embed} @ONLY CONTENT [[
__asm__(".section .rodata\n.global @symbol@\n@symbol@:\n.incbin \"@ptx@\"\n.byte 0\n.previous\n");
]])
  set_source_files_properties(${embed} PROPERTIES OBJECT_DEPENDS ${ptx})
endfunction()
