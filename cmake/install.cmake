# Installation. The command finds its private files relative to itself: BIN/../LIBDIR/heddle/{cuda,workloads} when
# installed, BIN/../{lib/cuda,workloads} in a build tree. workloads/ and data.cmake install their own files.
set(private_dir ${CMAKE_INSTALL_LIBDIR}/heddle)
foreach(target IN ITEMS heddle heddle_shared)
  if(TARGET ${target})
    install(TARGETS ${target})
  endif()
endforeach()
if(TARGET heddle_cuda)
  install(TARGETS heddle_cuda LIBRARY DESTINATION ${private_dir}/cuda NAMELINK_SKIP)
endif()
if(cudart_targets OR closed_targets)
  install(TARGETS ${cudart_targets} ${closed_targets} LIBRARY DESTINATION ${private_dir}/cuda NAMELINK_SKIP)
endif()
# Of src, only the headers that divergence models outside the tree need.
install(CODE "set(source_folder ${PROJECT_SOURCE_DIR})")
install(SCRIPT cmake/public_headers.cmake)
if(EXISTS ${PROJECT_SOURCE_DIR}/include/heddle)
  install(DIRECTORY include/heddle TYPE INCLUDE FILES_MATCHING PATTERN *.h)
endif()
# Headers for programs on the driver and runtime APIs, where no CUDA toolkit is: not on the compiler's own path, for the same reason
# as the libraries.
install(FILES include/cuda/cuda.h include/cuda/cuda_runtime_api.h DESTINATION ${private_dir}/cuda)
install(FILES python/heddle.py DESTINATION share/heddle/python)
configure_file(docs/heddle.1 heddle.1 @ONLY) # states the version
install(FILES ${PROJECT_BINARY_DIR}/heddle.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES tools/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME heddle)
install(FILES README.md CHANGELOG.md LICENSE TYPE DOC)
if(TARGET heddle_shared)
  file(RELATIVE_PATH up_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up_to_prefix ${up_to_prefix})
  configure_file(cmake/heddle.pc.in heddle.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/heddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# cpack -G DEB
set(CPACK_PACKAGE_CONTACT "the Heddle authors <heddle@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib/cuda ${PROJECT_BINARY_DIR}/lib)
include(CPack)
