# Every src/**/x_fuzz.c is a libFuzzer program, build/fuzz/x; its seeds are tests/corpus/x.
file(GLOB_RECURSE fuzz_sources CONFIGURE_DEPENDS src/*_fuzz.c)
foreach(source IN LISTS fuzz_sources)
  get_filename_component(stem ${source} NAME_WE)
  add_executable(${stem} ${source})
  target_link_libraries(${stem} PRIVATE heddle_core heddle_fatbin)
  # The sanitizer's runtime must come before libFuzzer's libraries, so it is linked in.
  target_link_options(${stem} PRIVATE -fsanitize=fuzzer $<$<BOOL:${HEDDLE_SANITIZE}>:-static-libsan>)
  string(REGEX REPLACE "_fuzz$" "" name ${stem})
  set_target_properties(${stem} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
endforeach()
