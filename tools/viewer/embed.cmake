# cmake -DOUTPUT=FILE.c -DFOLDER=DIR -P embed.cmake: writes the page, its style and its script as
# arrays of C.
function(append_array name file)
  file(READ ${FOLDER}/${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  set(code "${code}static const unsigned char ${name}[] = {${bytes}};\n" PARENT_SCOPE)
endfunction()

set(code "#include \"viewer/assets.h\"\n\n")
append_array(page page.html)
append_array(style page.css)
append_array(script page.js)
string(APPEND code "
const struct asset assets[ASSET_COUNT] = {
    {\"\", \"text/html; charset=utf-8\", page, sizeof page},
    {\"page.css\", \"text/css; charset=utf-8\", style, sizeof style},
    {\"page.js\", \"text/javascript; charset=utf-8\", script, sizeof script},
};
")
file(WRITE ${OUTPUT} "${code}")
