# What `cmake --install` puts where; the library's own files are in lib/CMakeLists.txt.
include(GNUInstallDirs)
set(data_folder ${CMAKE_INSTALL_DATADIR}/pitot)
# Man pages name folders below the prefix, which `cmake --install` may be given: they are made with
# this in its place, and installed with the prefix itself.
set(prefix_mark "%PREFIX%")
foreach(kind DATADIR DOCDIR MANDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
        set(named_${kind} "${CMAKE_INSTALL_${kind}}")
    else()
        set(named_${kind} "${prefix_mark}/${CMAKE_INSTALL_${kind}}")
    endif()
endforeach()
set(documents
    "-DPROJECT_VERSION=${PROJECT_VERSION}"
    "-Ddatadir=${named_DATADIR}/pitot"
    "-Ddocdir=${named_DOCDIR}")
set(man ${CMAKE_BINARY_DIR}/man)
find_program(AWK awk REQUIRED)

add_custom_command(OUTPUT ${man}/pitot.1
    COMMAND ${CMAKE_COMMAND} -DPITOT=$<TARGET_FILE:pitot> -DOUTPUT=${man}/pitot.1
            -DTEMPLATE=${CMAKE_SOURCE_DIR}/docs/man/pitot.1.in ${documents}
            -P ${CMAKE_SOURCE_DIR}/cmake/man-commands.cmake
    DEPENDS pitot docs/man/pitot.1.in cmake/man-commands.cmake VERBATIM)
add_custom_command(OUTPUT ${man}/library/libpitot.3
    COMMAND ${CMAKE_COMMAND} -DAWK=${AWK} -DHEADER=${CMAKE_SOURCE_DIR}/include/pitot.h
            -DSYMBOLS=${CMAKE_SOURCE_DIR}/lib/symbols -DFOLDER=${man}/library
            -DTEMPLATE=${CMAKE_SOURCE_DIR}/docs/man/libpitot.3.in ${documents}
            -P ${CMAKE_SOURCE_DIR}/cmake/man-library.cmake
    DEPENDS include/pitot.h lib/symbols docs/man/libpitot.3.in cmake/man-library.cmake
            cmake/man-header.awk
    VERBATIM)
set(made ${man}/pitot.1 ${man}/library/libpitot.3)
if(PITOT_PAGE)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/report-page-licences.txt
        COMMAND ${CMAKE_COMMAND} -DPAGE=${PITOT_PAGE}
                -DOUTPUT=${CMAKE_BINARY_DIR}/report-page-licences.txt
                -P ${CMAKE_SOURCE_DIR}/cmake/licences.cmake
        DEPENDS ${PITOT_PAGE} cmake/licences.cmake VERBATIM)
    list(APPEND made ${CMAKE_BINARY_DIR}/report-page-licences.txt)
    install(FILES ${CMAKE_BINARY_DIR}/report-page-licences.txt
            DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
# To make one a program is run that was just built; one with a sanitizer may not run everywhere.
if(NOT PITOT_SANITIZE)
    add_custom_target(pitot_documents ALL DEPENDS ${made})
endif()

# pitot-numbers finds the library beside it, wherever both are moved to.
file(RELATIVE_PATH to_library ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(pitot-numbers PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
install(TARGETS pitot pitot-worker pitot-numbers
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# The programs that make engines ready find what they need by its place beside them.
install(PROGRAMS scripts/build-engine-sqlite scripts/build-engines-node scripts/build-engine-turso
        DESTINATION ${data_folder}/scripts)
install(DIRECTORY engines workloads DESTINATION ${data_folder})

install(FILES docs/man/pitot-worker.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY ${man}/library/ OPTIONAL DESTINATION ${CMAKE_INSTALL_MANDIR}/man3
        PATTERN libpitot.3 EXCLUDE)
foreach(page pitot.1 library/libpitot.3)
    get_filename_component(name ${page} NAME)
    string(REGEX REPLACE ".*\\." "man" section ${page})
    string(REPLACE "${prefix_mark}" "\${CMAKE_INSTALL_PREFIX}" target
           "${named_MANDIR}/${section}")
    install(CODE "
        if(EXISTS \"${man}/${page}\")
            file(READ \"${man}/${page}\" text)
            string(REPLACE \"${prefix_mark}\" \"\${CMAKE_INSTALL_PREFIX}\" text \"\${text}\")
            file(WRITE \"${man}/installed/${name}\" \"\${text}\")
            file(INSTALL \"${man}/installed/${name}\" DESTINATION \"${target}\")
        endif()")
endforeach()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
