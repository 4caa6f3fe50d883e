/* Serialized Examples, each with what libprotobuf 3.21 makes of it: in the text format, without
 * unknown fields, or "REJECT". */
#ifndef RECMAP_TESTS_UNIT_PARSE_EXAMPLE_CASES_H
#define RECMAP_TESTS_UNIT_PARSE_EXAMPLE_CASES_H

struct wire_case {
    const char *what;
    const char *hex;
    const char *expected;
};

static const struct wire_case wire_cases[] = {
    {"an empty record", "", "{}"},
    {"an empty features message", "0a00", "{features { }}"},
    {"an unset feature", "0a070a050a016b1200", "{features { feature { key: \"k\" value { } } }}"},
    {"an empty list", "0a090a070a016b12021a00",
     "{features { feature { key: \"k\" value { int64_list { } } } }}"},
    {"an empty packed chunk", "0a0b0a090a016b120412020a00",
     "{features { feature { key: \"k\" value { float_list { } } } }}"},
    {"packed int64", "0a170a150a016b12101a0e0a0c07f9ffffffffffffffff0100",
     "{features { feature { key: \"k\" value { int64_list { value: 7 value: -7 value: "
     "0 } } } }}"},
    {"unpacked int64", "0a160a140a016b120f1a0d080708f9ffffffffffffffff01",
     "{features { feature { key: \"k\" value { int64_list { value: 7 value: -7 } } } }"
     "}"},
    {"packed and unpacked int64 in turn", "0a160a140a016b120f1a0d08010a02020308040a000a0105",
     "{features { feature { key: \"k\" value { int64_list { value: 1 value: 2 value: 3"
     " value: 4 value: 5 } } } }}"},
    {"the smallest and the largest int64",
     "0a1e0a1c0a016b12171a150a1380808080808080808001ffffffffffffffff7f",
     "{features { feature { key: \"k\" value { int64_list { value: -922337203685477580"
     "8 value: 9223372036854775807 } } } }}"},
    {"an int64 of more bytes than it needs", "0a0e0a0c0a016b12071a050a03858000",
     "{features { feature { key: \"k\" value { int64_list { value: 5 } } } }}"},
    {"a tenth byte with bits to spare", "0a150a130a016b120e1a0c0a0a8080808080808080807e",
     "{features { feature { key: \"k\" value { int64_list { value: 0 } } } }}"},
    {"an int64 of eleven bytes", "0a160a140a016b120f1a0d0a0b8080808080808080808001", "REJECT"},
    {"an unpacked int64 of eleven bytes", "0a150a130a016b120e1a0c088080808080808080808001",
     "REJECT"},
    {"packed and unpacked floats in turn",
     "0a1d0a1b0a016b121612140d0000803f0a08000000400000c0bf0d00000080",
     "{features { feature { key: \"k\" value { float_list { value: 1 value: 2 value: -"
     "1.5 value: -0 } } } }}"},
    {"packed floats of 6 bytes", "0a110a0f0a016b120a12080a060000803f0000", "REJECT"},
    {"an unpacked float of 3 bytes", "0a0d0a0b0a016b120612040d000000", "REJECT"},
    {"infinity and NaN", "0a170a150a016b1210120e0a0c0000807f000080ff0000c07f",
     "{features { feature { key: \"k\" value { float_list { value: inf value: -inf val"
     "ue: nan } } } }}"},
    {"bytes, an empty one too", "0a130a110a016b120c0a0a0a000a0300ff220a017a",
     "{features { feature { key: \"k\" value { bytes_list { value: \"\" value: \"\\000"
     "\\377\\\"\" value: \"z\" } } } }}"},
    {"two features of one name: the last one counts",
     "0a190a0b0a016b12061a040a0201020a0a0a016b12051a030a0103",
     "{features { feature { key: \"k\" value { int64_list { value: 3 } } } }}"},
    {"two of one name, of different kinds",
     "0a280a0b0a016b12061a040a0201020a0a0a016a12051a030a01050a0d0a016b120812060a040000"
     "803f",
     "{features { feature { key: \"j\" value { int64_list { value: 5 } } } feature { k"
     "ey: \"k\" value { float_list { value: 1 } } } }}"},
    {"two of one name, the last one unset", "0a130a0a0a016b12051a030a01010a050a016b1200",
     "{features { feature { key: \"k\" value { } } }}"},
    {"two of one name, the last one without a value", "0a110a0a0a016b12051a030a01010a030a016b",
     "{features { feature { key: \"k\" value { } } }}"},
    {"two of one name, the first one malformed",
     "0a180a0a0a016b12051a030a01800a0a0a016b12051a030a0103", "REJECT"},
    {"two of one name, the last one malformed",
     "0a180a0a0a016b12051a030a01030a0a0a016b12051a030a0180", "REJECT"},
    {"two Examples, concatenated",
     "0a180a0a0a016b12051a030a01010a0a0a016a12051a030a01020a0c0a0a0a016b12051a030a0103",
     "{features { feature { key: \"j\" value { int64_list { value: 2 } } } feature { k"
     "ey: \"k\" value { int64_list { value: 3 } } } }}"},
    {"a list in two pieces", "0a120a100a016b120b1a030a01011a040a020203",
     "{features { feature { key: \"k\" value { int64_list { value: 1 value: 2 value: 3"
     " } } } }}"},
    {"a value in two pieces", "0a130a110a016b12051a030a010112051a030a0102",
     "{features { feature { key: \"k\" value { int64_list { value: 1 value: 2 } } } }}"},
    {"a value in two pieces, an empty one first", "0a0e0a0c0a016b120012051a030a0102",
     "{features { feature { key: \"k\" value { int64_list { value: 2 } } } }}"},
    {"another kind replaces the list", "0a150a130a016b120e1a040a02010212060a040000803f",
     "{features { feature { key: \"k\" value { float_list { value: 1 } } } }}"},
    {"another kind, empty, replaces the list", "0a0f0a0d0a016b12081a040a0201021200",
     "{features { feature { key: \"k\" value { float_list { } } } }}"},
    {"another kind, and the first again",
     "0a1f0a1d0a016b12181a040a02010212060a040000803f1a030a01031a030a0104",
     "{features { feature { key: \"k\" value { int64_list { value: 3 value: 4 } } } }}"},
    {"another kind in the second piece of a value",
     "0a180a160a016b12051a030a0101120a0a030a01780a030a0179",
     "{features { feature { key: \"k\" value { bytes_list { value: \"x\" value: "
     "\"y\" } } } }}"},
    {"a malformed list that another kind replaces", "0a140a120a016b120d1a030a018012060a040000803f",
     "REJECT"},
    {"value before name", "0a0c0a0a12051a030a01010a016b",
     "{features { feature { key: \"k\" value { int64_list { value: 1 } } } }}"},
    {"a name given twice", "0a0f0a0d0a016a12051a030a01010a016b",
     "{features { feature { key: \"k\" value { int64_list { value: 1 } } } }}"},
    {"an entry without a name", "0a090a0712051a030a0101",
     "{features { feature { key: \"\" value { int64_list { value: 1 } } } }}"},
    {"an entry without anything", "0a020a00", "{features { feature { key: \"\" value { } } }}"},
    {"the empty name", "0a0b0a090a0012051a030a0101",
     "{features { feature { key: \"\" value { int64_list { value: 1 } } } }}"},
    {"a name with a NUL", "0a0e0a0c0a036b006a12051a030a0101",
     "{features { feature { key: \"k\\000j\" value { int64_list { value: 1 } } } }}"},
    {"a name of several alphabets", "0a140a120a09c3a9e282acf09f988012051a030a0101",
     "{features { feature { key: \"\\303\\251\\342\\202\\254\\360\\237\\230\\200\" val"
     "ue { int64_list { value: 1 } } } }}"},
    {"a name that is Latin-1", "0a0f0a0d0a04636166e912051a030a0101", "REJECT"},
    {"a name with a surrogate", "0a0e0a0c0a03eda08012051a030a0101", "REJECT"},
    {"a name with an overlong slash", "0a150a130a0a65696768742e2e2ec0af12051a030a0101", "REJECT"},
    {"a name beyond U+10FFFF", "0a0f0a0d0a04f490808012051a030a0101", "REJECT"},
    {"a name cut within a character", "0a140a120a09736576656e2e2ee28212051a030a0101", "REJECT"},
    {"a name that is not UTF-8, replaced by one that is", "0a0f0a0d0a01ff0a016b12051a030a0101",
     "REJECT"},
    {"unknown fields of every wire type at every depth",
     "10010a351178787878787878780a281d787878780a016b1805121322027a7a1a0813140a01011201"
     "7125616263642179797979797979791200a20603616263",
     "{features { feature { key: \"k\" value { int64_list { value: 1 } } } }}"},
    {"field numbers of known fields with other wire types",
     "08010d616263640a2b08010a27080515616263640a016b121b080115616263641978787878787878"
     "781a070d6162636408091801",
     "{features { feature { key: \"k\" value { int64_list { value: 9 } } } }}"},
    {"floats in an int64 list", "0a0e0a0c0a016b12071a050d0000803f",
     "{features { feature { key: \"k\" value { int64_list { } } } }}"},
    {"varints in a float list", "0a0b0a090a016b120412020805",
     "{features { feature { key: \"k\" value { float_list { } } } }}"},
    {"a varint in a bytes list", "0a0b0a090a016b12040a020805",
     "{features { feature { key: \"k\" value { bytes_list { } } } }}"},
    {"groups in groups", "1b230801241c0a0c0a0a0a016b12051a030a0101",
     "{features { feature { key: \"k\" value { int64_list { value: 1 } } } }}"},
    {"a group that does not end", "0a0c0a0a0a016b12051a030a01011b0801", "REJECT"},
    {"a group that ends as another", "0a0c0a0a0a016b12051a030a01011b24", "REJECT"},
    {"the end of a group that did not begin", "0a0c0a0a0a016b12051a030a01011c", "REJECT"},
    {"the end of a group inside a list", "0a0c0a0a0a016b12051a0308010c", "REJECT"},
    {"field number 0", "0a0c0a0a0a016b12051a030a010100", "REJECT"},
    {"field number 0 with a length", "0a0c0a0a0a016b12051a030a0101020178", "REJECT"},
    {"wire type 6", "0a0c0a0a0a016b12051a030a010116", "REJECT"},
    {"wire type 7 in an entry", "0a060a040a016b1f", "REJECT"},
    {"a length beyond the record", "0a050a00", "REJECT"},
    {"a length beyond the list, within the record",
     "0a180a0a0a016b12051a030a04010a0a0a016a12051a030a0109", "REJECT"},
    {"an entry beyond the features, within the record", "0a020a050a0c0a0a0a016b12051a030a0101",
     "REJECT"},
    {"a length of 2^31", "128080808008", "REJECT"},
    {"a length of 2^32 + 2", "0a82808080100a00", "REJECT"},
    {"a length of 2^64 - 1", "0affffffffffffffffff01", "REJECT"},
    {"a length of five bytes where one would do", "0a85808080000a030a016b",
     "{features { feature { key: \"k\" value { } } }}"},
    {"a tag of five bytes with bits beyond 32", "8a80808070050a030a016b",
     "{features { feature { key: \"k\" value { } } }}"},
    {"a tag of six bytes", "8a808080800000", "REJECT"},
    {"a tag cut short", "0a0c0a0a0a016b12051a030a010180", "REJECT"},
    {"an unknown varint of eleven bytes", "0a0c0a0a0a016b12051a030a010110ffffffffffffffffffff01",
     "REJECT"},
    {"an unknown fixed64 cut short", "0a0c0a0a0a016b12051a030a01011178787878787878", "REJECT"},
    {"a value's length with a longer varint than needed",
     "0a8e010a8b010a016b12860a840a8276767676767676767676767676767676767676767676767676"
     "76767676767676767676767676767676767676767676767676767676767676767676767676767676"
     "76767676767676767676767676767676767676767676767676767676767676767676767676767676"
     "76767676767676767676767676767676767676767676767676",
     "REJECT"},
    {"a name's length with a longer varint than needed",
     "0a9a010a97010a81016b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b"
     "6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b"
     "6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b"
     "6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b12120a100a0e7777777777777778787878787878",
     "REJECT"},
    {"a SequenceExample", "0a0c0a0a0a016b12051a030a0101120e0a0c0a017312070a051a030a0105",
     "{features { feature { key: \"k\" value { int64_list { value: 1 } } } }}"},
};

#endif
