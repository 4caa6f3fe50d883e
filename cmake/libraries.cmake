# Finds the C libraries and protoc-c. One message names everything that is missing and how to install
# it, so that nobody has to run CMake once per library.
find_package(PkgConfig)
if(NOT PkgConfig_FOUND)
  message(FATAL_ERROR "recmap needs pkg-config to find its C libraries. Install it, for example "
                      "with: apt-get install pkg-config")
endif()

set(missing "")
set(missing_packages "")

# A library by its pkg-config module, with version bounds; Debian's package is named if it is missing.
macro(recmap_library name package)
  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${ARGN})
  if(NOT ${name}_FOUND)
    list(APPEND missing "${ARGN}")
    list(APPEND missing_packages ${package})
  endif()
endmacro()

# src/format/deflate/inflate.c uses the internals of ISA-L's decoder:
# tests/unit/format/deflate/test_isal_layout.c says what to check before the upper bound is raised.
recmap_library(isal libisal-dev "libisal>=2.30" "libisal<2.33")
recmap_library(liburing liburing-dev "liburing>=2.0")
recmap_library(lmdb liblmdb-dev "lmdb>=0.9.24")
recmap_library(protobuf-c libprotobuf-c-dev "libprotobuf-c>=1.4")
recmap_library(xxhash libxxhash-dev "libxxhash>=0.8.1")
if(RECMAP_BUILD_TOOLS) # for `recmap view`, which loads it
  recmap_library(libmicrohttpd libmicrohttpd-dev "libmicrohttpd>=0.9.75")
endif()

# Pictures are decoded by three libraries. Without them recmap hands out their bytes only.
option(RECMAP_WITH_IMAGES "Decode JPEG, PNG and WebP, with libjpeg-turbo, libpng and libwebp" ON)
set(RECMAP_IMAGE_PREFIX "" CACHE PATH
    "Where these three libraries are, as packaging/libraries builds them; default: the system's")
if(RECMAP_WITH_IMAGES)
  if(RECMAP_IMAGE_PREFIX)
    set(path "$ENV{PKG_CONFIG_PATH}")
    set(ENV{PKG_CONFIG_PATH} "${RECMAP_IMAGE_PREFIX}/lib/pkgconfig:${path}")
  endif()
  recmap_library(libjpeg libjpeg-dev "libjpeg>=2.1") # src/parse/image/jpeg.c insists on turbo's
  recmap_library(libpng libpng-dev "libpng>=1.6.37")
  recmap_library(libwebp libwebp-dev "libwebp>=1.2")
  if(RECMAP_IMAGE_PREFIX)
    set(ENV{PKG_CONFIG_PATH} "${path}")
  endif()
endif()

# Reading shards from object stores and web servers needs libcurl. Without it, AUTO leaves that out.
# A static libcurl is linked; a shared one is loaded when the first URL is read, so that commands
# over local files start without its 30 libraries, and packages can do without them.
set(RECMAP_WITH_REMOTE AUTO CACHE STRING "Read shards by URL, with libcurl: ON, OFF or AUTO")
set(RECMAP_CURL "")
if(RECMAP_WITH_REMOTE STREQUAL "AUTO")
  pkg_check_modules(libcurl QUIET IMPORTED_TARGET "libcurl>=7.74")
elseif(RECMAP_WITH_REMOTE)
  recmap_library(libcurl libcurl4-openssl-dev "libcurl>=7.74")
endif()
if(RECMAP_WITH_REMOTE AND libcurl_FOUND)
  set(RECMAP_WITH_CURL ON)
  if(libcurl_LINK_LIBRARIES MATCHES "libcurl\\.a")
    set(RECMAP_CURL PkgConfig::libcurl)
    add_compile_definitions(RECMAP_CURL_IS_LINKED)
  else()
    set(RECMAP_CURL "")
  endif()
endif()

find_program(PROTOC_C protoc-c)
if(NOT PROTOC_C)
  list(APPEND missing protoc-c)
  list(APPEND missing_packages protobuf-c-compiler)
endif()

if(missing)
  list(JOIN missing ", " missing)
  list(JOIN missing_packages " " missing_packages)
  message(FATAL_ERROR "recmap needs C libraries that were not found: ${missing}. On Debian and "
                      "Ubuntu: apt-get install ${missing_packages}. Elsewhere install the packages "
                      "of these names, or install a wheel of recmap, which contains them.")
endif()

# src/base/core/hash.h says what this is for.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::xxhash)
check_c_source_compiles("#include <xxh_x86dispatch.h>
int main(void) { return (int)XXH3_128bits(\"\", 0).low64; }" RECMAP_XXHASH_DISPATCH)
unset(CMAKE_REQUIRED_LIBRARIES)
if(RECMAP_XXHASH_DISPATCH)
  add_compile_definitions(RECMAP_XXHASH_DISPATCH)
endif()
