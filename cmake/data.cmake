# Copies machines, experiments and the page to BUILD/NAME, and installs them where src/cli/program/place.c looks for them.
function(add_data name pattern)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${pattern})
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
add_data(web web/dist/page.html)
