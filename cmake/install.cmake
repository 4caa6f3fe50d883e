# What `cmake --install` gives: library, headers, pkg-config file, CMake package. The command is
# installed where it is made (tools/), the man pages in docs/.
include(CMakePackageConfigHelpers)

install(TARGETS recmap EXPORT recmapTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/recmap DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/recmap)
install(EXPORT recmapTargets NAMESPACE recmap:: DESTINATION ${package_folder})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/recmapConfig.cmake.in ${PROJECT_BINARY_DIR}/recmapConfig.cmake
  INSTALL_DESTINATION ${package_folder})
# Before 1.0 a new minor version may change the interface.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/recmapConfigVersion.cmake
                                 COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/recmapConfig.cmake
              ${PROJECT_BINARY_DIR}/recmapConfigVersion.cmake
        DESTINATION ${package_folder})

# Paths in recmap.pc start from its own folder, so that an installed tree can be moved.
set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(ABSOLUTE_PATH pc_folder BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
           OUTPUT_VARIABLE pc_full_folder)
file(RELATIVE_PATH RECMAP_PC_PREFIX ${pc_full_folder} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" RECMAP_PC_PREFIX "${RECMAP_PC_PREFIX}")
cmake_path(APPEND RECMAP_PC_LIBDIR "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND RECMAP_PC_INCLUDEDIR "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
# A shared library brings what it needs: its users need no headers of other libraries.
set(RECMAP_PC_PRIVATE "")
if(NOT BUILD_SHARED_LIBS)
  string(CONCAT RECMAP_PC_PRIVATE
         "Requires.private: libisal >= 2.30, libisal < 2.33, liburing >= 2.0, lmdb >= 0.9.24, "
         "libprotobuf-c >= 1.4, libxxhash >= 0.8.1")
  if(RECMAP_CURL)
    string(APPEND RECMAP_PC_PRIVATE ", libcurl >= 7.74")
  endif()
  if(RECMAP_WITH_IMAGES)
    string(APPEND RECMAP_PC_PRIVATE ", libjpeg >= 2.1, libpng >= 1.6.37, libwebp >= 1.2")
  endif()
  string(APPEND RECMAP_PC_PRIVATE "\nLibs.private: -pthread -lm\n")
endif()
configure_file(${PROJECT_SOURCE_DIR}/recmap.pc.in ${PROJECT_BINARY_DIR}/recmap.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/recmap.pc DESTINATION ${pc_folder})
