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
# without a point, and writes EMBED, a C file that contains the text as SYMBOL. clang 14 does not know sm_90a. Kernels for it are
# compiled for sm_80, and the text is then declared as sm_90a. Their instructions of sm_90a are written out (asm).
function(compile_kernels kernel ptx embed symbol sm version)
  set(arch ${sm})
  set(declare true)
  if(sm STREQUAL 90a)
    set(arch 80)
    set(declare sed -i -e "s/^\.version .*/.version 8.0/" -e "s/^\.target sm_80/.target sm_90a/" ${ptx})
  endif()
  cmake_path(RELATIVE_PATH kernel BASE_DIRECTORY ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.. OUTPUT_VARIABLE name)
  add_custom_command(OUTPUT ${ptx}
    COMMAND ${HEDDLE_CLANG} ${kernel_flags} ${ARGN} --cuda-gpu-arch=sm_${arch} -Xclang -target-feature -Xclang +ptx${version}
      -MD -MF ${embed}.d -S ${kernel} -o ${ptx}
    COMMAND ${declare}
    DEPENDS ${kernel} DEPFILE ${embed}.d COMMENT "Compiling ${name}" VERBATIM)
  file(CONFIGURE OUTPUT ${embed} @ONLY CONTENT [[
__asm__(".section .rodata\n.global @symbol@\n@symbol@:\n.incbin \"@ptx@\"\n.byte 0\n.previous\n");
]])
  set_source_files_properties(${embed} PROPERTIES OBJECT_DEPENDS ${ptx})
endfunction()
