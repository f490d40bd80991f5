# The machines are data: copied to BUILD/machines, and installed where src/cli/program/place.c looks for them.
file(GLOB machines CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/machines/*.yaml)
set(stamp ${PROJECT_BINARY_DIR}/generated/machines.stamp)
# The folder is made anew, so that a machine that is gone from the sources is gone there too.
add_custom_command(OUTPUT ${stamp}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${PROJECT_BINARY_DIR}/machines
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/machines ${PROJECT_BINARY_DIR}/generated
  COMMAND ${CMAKE_COMMAND} -E copy ${machines} ${PROJECT_BINARY_DIR}/machines
  COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
  DEPENDS ${machines} COMMENT "Copying the machines" VERBATIM)
add_custom_target(machines ALL DEPENDS ${stamp})
add_dependencies(runtime machines)
install(FILES ${machines} DESTINATION share/heddle/machines)
