# option_section(VARIABLE COMMAND) sets VARIABLE to the section OPTIONS of a command's manual page.
# The table of options is read as text, so that a build for another machine makes the pages too.
set(option_table ${PROJECT_SOURCE_DIR}/tools/terminal/option_table.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${option_table})
string(ASCII 1 quote) # what stands for \", \n and ; while the table is parsed
string(ASCII 2 newline)
string(ASCII 3 semicolon)

# Sets `option_rows` to the rows of the table.
function(read_option_rows)
  file(READ ${option_table} code)
  string(REPLACE "\\\"" "${quote}" code "${code}")
  string(REPLACE "\\n" "${newline}" code "${code}")
  string(REPLACE ";" "${semicolon}" code "${code}")
  string(REGEX MATCHALL "#define [A-Z]+ \"[^\"]*\"" definitions "${code}")
  string(REGEX REPLACE "#define [^\n]*" "" code "${code}")
  foreach(definition ${definitions})
    string(REGEX MATCH "#define ([A-Z]+) (.*)" definition "${definition}")
    string(REPLACE "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}" code "${code}")
  endforeach()
  string(REGEX REPLACE "\"[ \n]*\"" "" code "${code}") # adjacent literals are one
  string(REGEX MATCHALL "{OPTION_[^{}\"]*(\"[^\"]*\"|[^{}\"])*}" rows "${code}")
  set(option_rows "${rows}" PARENT_SCOPE)
endfunction()

# Makes a text of the table one of a manual page.
function(escape_for_manual variable)
  string(REPLACE "${quote}" "\\(dq" text "${${variable}}")
  string(REPLACE "${semicolon}" ";" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REPLACE "'" "\\(aq" text "${text}")
  string(REPLACE "${newline}" "\n.br\n\\&" text "${text}") # a line must not begin with a dot
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# Sets `entry` to the lines of an option. Its argument is in italics if it has words to replace.
function(write_entry option name argument text)
  foreach(part name argument text)
    escape_for_manual(${part})
  endforeach()
  set(entry ".TP\n")
  if(option STREQUAL "OPTION_OUTPUT")
    string(APPEND entry "\\fB\\-o\\fR, ")
  elseif(option STREQUAL "OPTION_HELP")
    string(APPEND entry "\\fB\\-h\\fR, ")
  endif()
  string(APPEND entry "\\fB\\-\\-${name}\\fR")
  if(argument MATCHES "[A-Z]")
    string(APPEND entry " \\fI${argument}\\fR")
  elseif(argument)
    string(APPEND entry " \\fB${argument}\\fR")
  endif()
  set(entry "${entry}\n${text}\n" PARENT_SCOPE)
endfunction()

function(option_section variable command)
  set(section ".SH OPTIONS\n")
  set(literal "(NULL|\"([^\"]*)\")")
  set(space "[ \n]*")
  foreach(row ${option_rows})
    string(REGEX MATCH "{([A-Z_]+),${space}${literal},${space}${literal},${space}${literal},${space}${literal}}"
           row "${row}")
    set(option ${CMAKE_MATCH_1})
    set(name "${CMAKE_MATCH_3}") # an empty one makes a heading
    set(argument "${CMAKE_MATCH_5}")
    set(commands "${CMAKE_MATCH_7}") # empty: all
    set(text "${CMAKE_MATCH_9}")
    if(commands AND NOT " ${commands} " MATCHES " ${command} ")
      continue()
    elseif(name)
      write_entry(${option} "${name}" "${argument}" "${text}")
    else()
      escape_for_manual(text)
      set(entry ".PP\n${text}\n")
    endif()
    string(APPEND section "${entry}")
  endforeach()
  string(STRIP "${section}" section)
  set(${variable} "${section}" PARENT_SCOPE)
endfunction()

read_option_rows()
