# The man page of the library out of its header, and one line for each call that leads to it.
#     cmake -DAWK=… -DHEADER=… -DSYMBOLS=… -DTEMPLATE=… -DFOLDER=… -DPROJECT_VERSION=… -Ddocdir=… -P …
execute_process(COMMAND ${AWK} -f ${CMAKE_CURRENT_LIST_DIR}/man-header.awk ${HEADER}
                OUTPUT_VARIABLE HEADER OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
configure_file(${TEMPLATE} ${FOLDER}/libpitot.3 @ONLY)
file(STRINGS ${SYMBOLS} symbols)
foreach(symbol IN LISTS symbols)
    file(WRITE ${FOLDER}/${symbol}.3 ".so man3/libpitot.3\n")
endforeach()
