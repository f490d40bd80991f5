# add_data(NAME PATTERN...): copies files to BUILD/NAME, and installs them where src/program/place.c looks for them.
function(add_data name)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE patterns)
  file(GLOB files CONFIGURE_DEPENDS ${patterns})
  set(stamp ${PROJECT_BINARY_DIR}/generated/${name}.stamp)
  # The folder is created again, so that a file removed from the sources is removed there too.
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${PROJECT_BINARY_DIR}/${name}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/${name} ${PROJECT_BINARY_DIR}/generated
    COMMAND ${CMAKE_COMMAND} -E copy ${files} ${PROJECT_BINARY_DIR}/${name}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${files} COMMENT "Copying the ${name}" VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${stamp})
  add_dependencies(runtime ${name})
  install(FILES ${files} DESTINATION share/heddle/${name})
endfunction()
add_data(machines machines/*.yaml)
add_data(experiments experiments/*.yaml)
add_data(championship experiments/championship/*.yaml)
# Those that `heddle validate` runs; the programs for the others are not installed.
set(recordings bench/hardware/recordings)
add_data(recordings ${recordings}/h200_workloads.csv ${recordings}/h200_patterns.csv ${recordings}/h200_applications.csv
  ${recordings}/h200_suites.csv ${recordings}/h200_metrics.csv)
add_data(web web/dist/page.html)

# What `heddle new` starts from. `sources` leads to the headers.
add_data(templates templates/*)
file(CREATE_LINK ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/sources SYMBOLIC)
