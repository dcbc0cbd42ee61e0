# Turns a folder of text files into one C file that holds their bytes, so that the
# binaries need nothing beside them. embed-folder.cmake does the work at build time.
function(pitot_embed output symbol folder)
    file(GLOB files CONFIGURE_DEPENDS RELATIVE ${folder} ${ARGN})
    list(SORT files)
    list(TRANSFORM files PREPEND "${folder}/" OUTPUT_VARIABLE depends)
    string(REPLACE ";" "|" joined "${files}")
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSYMBOL=${symbol} -DFOLDER=${folder}
                "-DFILES=${joined}" -P ${CMAKE_SOURCE_DIR}/cmake/embed-folder.cmake
        DEPENDS ${depends} ${CMAKE_SOURCE_DIR}/cmake/embed-folder.cmake
        COMMENT "Embedding ${folder}" VERBATIM)
endfunction()

function(pitot_embed_workloads output)
    pitot_embed(${output} embedded_workloads ${CMAKE_SOURCE_DIR}/workloads
                ${CMAKE_SOURCE_DIR}/workloads/*/*.sql ${CMAKE_SOURCE_DIR}/workloads/*/*.json)
endfunction()

function(pitot_embed_manifests output)
    pitot_embed(${output} embedded_manifests ${CMAKE_SOURCE_DIR}/engines
                ${CMAKE_SOURCE_DIR}/engines/*.json)
endfunction()
