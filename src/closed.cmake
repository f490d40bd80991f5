# Our versions of NVIDIA's closed libraries: cublas/ makes libcublas and libcublasLt, curand/ makes libcurand, cufft/ makes libcufft,
# cusparse/ makes libcusparse. They lie beside libcuda and need nothing but it. Included by src/CMakeLists.txt.
include(${PROJECT_SOURCE_DIR}/cmake/kernels.cmake)

# add_kernels(LIBRARY NAME SM VERSION): compiles LIBRARY/kernels/NAME.cu and adds the file that contains its PTX to `embedded`.
function(add_kernels library name sm version)
  set(folder ${PROJECT_BINARY_DIR}/generated/kernels)
  file(MAKE_DIRECTORY ${folder})
  set(embed ${folder}/${library}_${name}.c)
  compile_kernels(${CMAKE_CURRENT_SOURCE_DIR}/${library}/kernels/${name}.cu ${folder}/${library}_${name}.ptx ${embed}
    ${library}_ptx_${name} ${sm} ${version} -I ${CMAKE_CURRENT_SOURCE_DIR})
  set(embedded ${embedded} ${embed} PARENT_SCOPE)
endfunction()

# add_closed(TARGET NAME VERSION PREFIX SOURCE...): libNAME.so.VERSION, which exports what begins with PREFIX and a capital letter
function(add_closed target name version prefix)
  set(map ${PROJECT_BINARY_DIR}/generated/lib${name}.so.${version}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "lib${name}.so.${version} { global: ${prefix}[A-Z_]*; local: *; };\n")
  add_library(${target} SHARED ${ARGN})
  target_link_libraries(${target} PRIVATE heddle_flags heddle_cuda)
  target_link_options(${target} PRIVATE LINKER:--version-script=${map} LINKER:-soname,lib${name}.so.${version}
    LINKER:-Bsymbolic-functions)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} SUFFIX .so.${version} NO_SONAME ON LINK_DEPENDS ${map}
    LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/cuda BUILD_RPATH $ORIGIN INSTALL_RPATH $ORIGIN)
  set(closed_targets ${closed_targets} ${target} PARENT_SCOPE)
endfunction()

function(add_objects target)
  add_library(${target} OBJECT ${ARGN})
  target_link_libraries(${target} PRIVATE heddle_flags)
  if(NOT HEDDLE_SANITIZE) # the sanitized suite runs no program with them
    target_compile_options(${target} PRIVATE -O1) # they check arguments and launch kernels; compiles in a third of the time
  endif()
endfunction()

add_kernels(cublas product 70 63)
add_kernels(cublas product_mma 80 70)
add_kernels(cublas vector 70 63)
add_kernels(cublas matrix 70 63)
add_kernels(cublas factor 70 63)
add_objects(heddle_library library/library.c)
file(GLOB core CONFIGURE_DEPENDS cublas/core/*.c)
add_objects(heddle_cublas_core ${core} ${embedded})
file(GLOB api CONFIGURE_DEPENDS cublas/*.c)
list(FILTER api EXCLUDE REGEX "/version\\.c$")
add_objects(heddle_cublas_api ${api})
file(GLOB light CONFIGURE_DEPENDS cublas/lt/*.c)
add_objects(heddle_cublaslt_api ${light})
foreach(major IN ITEMS 11 12 13)
  add_closed(heddle_cublasLt_${major} cublasLt ${major} cublasLt cublas/version.c $<TARGET_OBJECTS:heddle_cublaslt_api>
    $<TARGET_OBJECTS:heddle_cublas_core> $<TARGET_OBJECTS:heddle_library>)
  target_compile_definitions(heddle_cublasLt_${major} PRIVATE CUBLAS_MAJOR=${major})
  add_closed(heddle_cublas_${major} cublas ${major} cublas cublas/version.c $<TARGET_OBJECTS:heddle_cublas_api>
    $<TARGET_OBJECTS:heddle_cublas_core> $<TARGET_OBJECTS:heddle_library>)
  target_compile_definitions(heddle_cublas_${major} PRIVATE CUBLAS_MAJOR=${major})
endforeach()

unset(embedded)
add_kernels(curand random 70 63)
file(GLOB api CONFIGURE_DEPENDS curand/*.c)
add_closed(heddle_curand curand 10 curand ${api} ${embedded} $<TARGET_OBJECTS:heddle_library>)

unset(embedded)
add_kernels(cufft transform 70 63)
file(GLOB api CONFIGURE_DEPENDS cufft/*.c)
list(FILTER api EXCLUDE REGEX "/plan\\.c$")
add_objects(heddle_cufft_core ${api} ${embedded})
foreach(major IN ITEMS 10 11 12) # of CUDA 11, 12 and 13
  add_closed(heddle_cufft_${major} cufft ${major} cufft cufft/plan.c $<TARGET_OBJECTS:heddle_cufft_core>
    $<TARGET_OBJECTS:heddle_library>)
  target_compile_definitions(heddle_cufft_${major} PRIVATE CUFFT_MAJOR=${major})
endforeach()

unset(embedded)
add_kernels(cusparse sparse 70 63)
file(GLOB api CONFIGURE_DEPENDS cusparse/*.c)
list(FILTER api EXCLUDE REGEX "/descriptors\\.c$")
add_objects(heddle_cusparse_core ${api} ${embedded})
foreach(major IN ITEMS 11 12) # of CUDA 11, and of CUDA 12 and 13
  add_closed(heddle_cusparse_${major} cusparse ${major} cusparse cusparse/descriptors.c $<TARGET_OBJECTS:heddle_cusparse_core>
    $<TARGET_OBJECTS:heddle_library>)
  target_compile_definitions(heddle_cusparse_${major} PRIVATE CUSPARSE_MAJOR=${major})
endforeach()

add_dependencies(runtime ${closed_targets})
set(closed_targets ${closed_targets} PARENT_SCOPE) # for their installation
