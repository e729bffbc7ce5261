# What `cpack` puts into the Debian package and the archive; scripts/package.sh runs it. Everything
# a release holds is installed here: programs, configs, scripts, pages for man and completions.
include(GNUInstallDirs)

set(attnscale_data ${CMAKE_INSTALL_DATADIR}/attnscale)
set(attnscale_pages ${PROJECT_BINARY_DIR}/packaging)

foreach(program attnscale attnscale-mpi)
  if(TARGET ${program})
    install(TARGETS ${program})
  endif()
endforeach()
install(DIRECTORY configs/ DESTINATION ${attnscale_data}/configs
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
set(attnscale_programs plot.py report.py classroom.sh get_vega.sh sweep.sh slurm_array.sh slurm_mpi.sh)
list(TRANSFORM attnscale_programs PREPEND scripts/)
install(PROGRAMS ${attnscale_programs} DESTINATION ${attnscale_data}/scripts)
install(DIRECTORY scripts/ DESTINATION ${attnscale_data}/scripts
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
  FILES_MATCHING PATTERN "plot_*.py" PATTERN "report_*" PATTERN run_tables.py PATTERN whole_file.py
  PATTERN peers EXCLUDE PATTERN packaging EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

# The program writes its completions, help2man its man pages; both when the package is made.
add_custom_target(packaged_pages
  COMMAND ${CMAKE_COMMAND} -E env PROGRAM=$<TARGET_FILE:attnscale> OUT=${attnscale_pages}
    ${PROJECT_SOURCE_DIR}/scripts/packaging/write_pages.sh
  DEPENDS attnscale VERBATIM)
install(FILES ${attnscale_pages}/attnscale.bash RENAME attnscale OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${attnscale_pages}/_attnscale OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${attnscale_pages}/attnscale.1.gz OPTIONAL
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${attnscale_pages}/changelog.gz OPTIONAL DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET attnscale-mpi)
  install(FILES ${attnscale_pages}/attnscale.1.gz OPTIONAL RENAME attnscale-mpi.1.gz
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME attnscale)
set(CPACK_PACKAGE_VENDOR "The attnscale authors")
set(CPACK_PACKAGE_CONTACT "The attnscale authors <attnscale@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measure how big attention scores get")
set(CPACK_PACKAGE_DESCRIPTION "Draws random queries and keys, applies several score scalings to the
 same draws and writes CSV and JSON with error bars beside exact values. Audits
 dumped attention tensors and prints exact values without drawing anything.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Only attnscale-mpi needs Open MPI, and only plot and report need Python.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.34), zlib1g")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, python3-matplotlib, python3-pandas")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin, parallel")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
