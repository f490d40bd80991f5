# Every src/**/x_test.c is a cmocka program, named in CTest after its path: src/ptx/parser/lexer_test.c is ptx/parser/lexer.
enable_testing()
find_package(cmocka REQUIRED)
if(HEDDLE_GOLD)
  add_link_options(-fuse-ld=gold)
endif()

# Ten times what a test takes and more: other work on the machine must not make it fail.
set(timeout 1500)

# set_slow(NAME SECONDS): ./test --quick leaves it out; otherwise the longest (in seconds of a processor) start first, so
# that all processors are busy to the end.
function(set_slow name seconds)
  set_tests_properties(${name} PROPERTIES COST ${seconds})
  set_property(TEST ${name} APPEND PROPERTY LABELS slow)
endfunction()
# Tests themselves need not be fast: they compile in half the time. gcc's warnings need -O1.
if(NOT HEDDLE_SANITIZE)
  set(test_options -O1)
endif()

# What the tests of divergence models share.
file(GLOB testing_sources CONFIGURE_DEPENDS src/divergence/testing/*.c)
list(FILTER testing_sources EXCLUDE REGEX "_test\\.c$")
add_library(divergence_testing STATIC ${testing_sources})
target_link_libraries(divergence_testing PUBLIC heddle_testable cmocka)
target_compile_options(divergence_testing PRIVATE $<$<BOOL:${HEDDLE_SANITIZE}>:-O1>) # tests spend their time in it

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src src/*_test.c)
foreach(source IN LISTS test_sources)
  if(source MATCHES "^cudart/preload/" AND NOT TARGET heddle_preload)
    continue()
  endif()
  string(REGEX REPLACE "_test\\.c$" "" name ${source})
  string(REPLACE "/" "_" target ${name}_test)
  add_executable(${target} src/${source})
  target_link_libraries(${target} PRIVATE cmocka)
  target_compile_options(${target} PRIVATE ${test_options})
  if(source MATCHES "^cuda/")
    target_link_libraries(${target} PRIVATE heddle_cuda heddle_fatbin)
  elseif(source MATCHES "^cudart/preload/") # that library exports nothing
    target_sources(${target} PRIVATE src/${name}.c)
  elseif(source MATCHES "^cudart/")
    target_link_libraries(${target} PRIVATE heddle_cudart_13)
    add_dependencies(${target} heddle_cudart_11 heddle_cudart_12)
  elseif(source MATCHES "^(command|program|experiment|cli)/")
    target_link_libraries(${target} PRIVATE heddle_cli)
  elseif(source MATCHES "^divergence/")
    target_link_libraries(${target} PRIVATE divergence_testing)
  endif()
  if(source MATCHES "^(cuda|cudart)/") # libcuda has the core inside; of a second one they take only what they name
    target_link_libraries(${target} PRIVATE heddle_core)
  else()
    target_link_libraries(${target} PRIVATE heddle_testable)
  endif()
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout})
endforeach()

if(EXISTS ${PROJECT_SOURCE_DIR}/tests/CMakeLists.txt)
  add_subdirectory(tests)
endif()

# The gate, one test per check. Its sanitized builds must not run it again.
if(NOT HEDDLE_SANITIZE)
  # The builds use every core, but count as one less, so that the fuzzer's minute runs in parallel.
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR most "${cores} - 1")
  if(most EQUAL 0)
    set(most 1)
  endif()
  function(add_gate check timeout processors)
    add_test(NAME gate/${check} COMMAND ${PROJECT_SOURCE_DIR}/tools/gate ${check})
    set_tests_properties(gate/${check} PROPERTIES
      TIMEOUT ${timeout} PROCESSORS ${processors} SKIP_RETURN_CODE 77 LABELS gate)
  endfunction()
  add_gate(format ${timeout} 1)
  add_gate(layers ${timeout} 1)
  add_gate(unread ${timeout} 1)
  add_gate(truth ${timeout} 1)
  set_property(TEST gate/truth APPEND PROPERTY ENVIRONMENT HEDDLE_BUILD=${PROJECT_BINARY_DIR})
  add_gate(headers ${timeout} 1)
  add_gate(gcc 1800 1)
  add_gate(clang 3600 ${most})
  add_gate(sanitize 3600 ${most})
  add_gate(fuzz ${timeout} 1)
  add_gate(tsan 3600 ${most})
  set_slow(gate/clang 1000)
  set_slow(gate/sanitize 900)
  set_slow(gate/fuzz 60)
  set_slow(gate/tsan 110)
  # A change that costs 3 % of speed fails, however loaded the computer is.
  add_test(NAME bench/instructions
    COMMAND ${PROJECT_SOURCE_DIR}/bench/instructions.sh --some ${PROJECT_BINARY_DIR})
  set_tests_properties(bench/instructions PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
  set_slow(bench/instructions 15)
  set_tests_properties(gate/clang PROPERTIES FIXTURES_SETUP clang_build)
  set_tests_properties(gate/sanitize gate/fuzz PROPERTIES FIXTURES_REQUIRED clang_build)
endif()
