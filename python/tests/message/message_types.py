"""Random message types, messages of them, and their values as protobuf gives them."""

from __future__ import annotations

import random
import struct

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

Field = descriptor_pb2.FieldDescriptorProto
Features = descriptor_pb2.FeatureSet
NUMBERS = [
    *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"),
    *("fixed32", "fixed64", "sfixed32", "sfixed64", "bool"),
]
SCALARS = [*NUMBERS, "string", "bytes", "enum"]
DTYPES = {
    **dict.fromkeys(("int32", "sfixed32", "sint32", "enum"), "int32"),
    **dict.fromkeys(("int64", "sfixed64", "sint64"), "int64"),
    **dict.fromkeys(("uint32", "fixed32"), "uint32"),
    **dict.fromkeys(("uint64", "fixed64"), "uint64"),
    "double": "float64",
    "float": "float32",
    "bool": "bool",
}


def type_number(name):
    return getattr(Field, f"TYPE_{name.upper()}")


def varint(value):
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


class Types:
    """A file of random message types: `Root` is the one of the records."""

    def __init__(self, seed, depth=3):
        self.random = random.Random(seed)
        self.syntax = self.random.choice(["proto2", "proto3", "editions"])
        self.file = descriptor_pb2.FileDescriptorProto(name=f"t{seed}.proto", package="test.random")
        self.file.syntax = self.syntax
        if self.syntax == "editions":
            self.file.edition = descriptor_pb2.EDITION_2023
        self.count = 0
        self._add_enum()
        self._add_message(self.file.message_type.add(), "Root", depth)
        pool = descriptor_pool.DescriptorPool()
        pool.Add(self.file)
        self.type = pool.FindMessageTypeByName("test.random.Root")
        self.Root = message_factory.GetMessageClass(self.type)
        self.set = descriptor_pb2.FileDescriptorSet(file=[self.file]).SerializeToString()

    def _add_enum(self):
        added = self.file.enum_type.add(name="Colour")
        for name, number in (("RED", 0), ("GREEN", 1), ("FAR", 1000), ("MINUS", -2)):
            added.value.add(name=name, number=number)
        if self.syntax == "editions" and self.random.random() < 0.5:
            added.options.features.enum_type = Features.CLOSED

    def _add_message(self, message, name, depth):
        message.name = name
        used = set()
        for i in range(self.random.randint(1, 6) + 2 * (name == "Root")):
            number = self.random.choice([self.random.randint(1, 15), self.random.randint(16, 3000)])
            if number in used or 19000 <= number < 20000:
                continue
            used.add(number)
            self._add_field(message, f"f{i}", number, depth)
        if self.random.random() < 0.6:
            self._add_oneof(message, used, depth)

    def _add_field(self, message, name, number, depth):
        kind = self.random.choice([*SCALARS, *(["message"] * 6 if depth else [])])
        if kind == "message" and self.random.random() < 0.15:
            self._add_map(message, name, number)
            return
        field = message.field.add(name=name, number=number, type=type_number(kind))
        is_repeated = self.random.random() < 0.45
        field.label = Field.LABEL_REPEATED if is_repeated else Field.LABEL_OPTIONAL
        self._set_type(message, field, kind, depth)
        if is_repeated and kind in (*NUMBERS, "enum") and self.syntax != "editions":
            field.options.packed = self.random.random() < 0.5
        if self.syntax != "proto3" and not is_repeated and kind != "message":
            self._set_default(field, kind)
        if self.syntax == "editions":
            self._set_features(field, kind)
        if self.syntax == "proto3" and not is_repeated and self.random.random() < 0.3:
            field.proto3_optional = True
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{name}")

    def _set_features(self, field, kind):
        is_repeated = field.label == Field.LABEL_REPEATED
        given = field.options.features
        if self.random.random() < 0.5:
            return
        if kind == "message":
            given.message_encoding = Features.DELIMITED
        elif is_repeated and kind in (*NUMBERS, "enum"):
            given.repeated_field_encoding = Features.EXPANDED
        elif not is_repeated and kind != "enum" and not field.default_value:
            given.field_presence = Features.IMPLICIT

    def _set_type(self, message, field, kind, depth):
        if kind == "enum":
            field.type_name = ".test.random.Colour"
        if kind == "message":
            self.count += 1
            nested = self.file.message_type.add()
            field.type_name = f".test.random.M{self.count}"
            if self.syntax == "proto2" and self.random.random() < 0.2:
                field.type = Field.TYPE_GROUP
                field.name = f"m{self.count}"
            self._add_message(nested, f"M{self.count}", depth - 1)

    def _set_default(self, field, kind):
        if self.random.random() < 0.5:
            return
        texts = {"bool": "true", "enum": "FAR", "string": "naïve\\n", "bytes": "\\001a\\377\\\\\\n"}
        texts |= {"double": "-1.5e-300", "float": "inf"}
        field.default_value = texts.get(kind, "123")

    def _add_map(self, message, name, number):
        entry = message.nested_type.add(name=f"F{name[1:]}Entry")
        entry.options.map_entry = True
        for key, n, kind in (
            ("key", 1, self.random.choice(["string", "int32", "uint64", "bool"])),
            ("value", 2, self.random.choice(["int64", "string", "double"])),
        ):
            entry.field.add(name=key, number=n, type=type_number(kind), label=1)
        scope = f".test.random.{message.name}"
        message.field.add(
            name=name,
            number=number,
            type=Field.TYPE_MESSAGE,
            label=Field.LABEL_REPEATED,
            type_name=f"{scope}.{entry.name}",
        )

    def _add_oneof(self, message, used, depth):
        index = len(message.oneof_decl)
        if any(field.proto3_optional for field in message.field):
            return  # synthetic oneofs come last
        message.oneof_decl.add(name="choice")
        for i in range(self.random.randint(2, 4)):
            number = self.random.randint(1, 4000)
            if number in used:
                continue
            used.add(number)
            kind = self.random.choice([*SCALARS, *(["message"] * 4 if depth else [])])
            field = message.field.add(
                name=f"o{i}", number=number, type=type_number(kind), label=1, oneof_index=index
            )
            self._set_type(message, field, kind, depth)

    # ---- Messages.

    def message(self, chance=0.7):
        made = self.Root()
        self.fill(made, chance)
        return made

    def fill(self, message, chance):
        fields = list(message.DESCRIPTOR.fields)
        self.random.shuffle(fields)
        for field in fields:
            if self.random.random() > chance:
                continue
            if field.message_type and field.message_type.GetOptions().map_entry:
                self._fill_map(message, field)
            elif field.is_repeated:
                for _ in range(self.random.choice([0, 1, 2, 3, 7])):
                    if field.message_type:
                        self.fill(getattr(message, field.name).add(), chance * 0.9)
                    else:
                        getattr(message, field.name).append(self.value(field))
            elif field.message_type:
                getattr(message, field.name).SetInParent()
                self.fill(getattr(message, field.name), chance * 0.9)
            else:
                setattr(message, field.name, self.value(field))

    def _fill_map(self, message, field):
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        for _ in range(self.random.randint(0, 3)):
            getattr(message, field.name)[self.value(key)] = self.value(value)

    def noise(self):
        """Bytes that few writers write: values that an enum lacks, varints that are too large for
        their type, packed and single values where the other is usual, and other wire types."""
        data = b""
        for field in self.type.fields:
            kind, number = field.type, field.number
            if field.message_type or self.random.random() < 0.5:
                continue
            if kind in {Field.TYPE_ENUM, Field.TYPE_INT32, Field.TYPE_UINT32, Field.TYPE_BOOL}:
                data += varint(number << 3) + varint(self.random.choice([77, 1 << 40, 2, 1000]))
                data += varint(number << 3 | 2) + b"\x05\x01\x4d\x00\xe8\x07"
            elif kind in {Field.TYPE_STRING, Field.TYPE_BYTES, Field.TYPE_SINT64}:
                data += varint(number << 3 | 5) + b"\1\2\3\4"
            elif kind == Field.TYPE_DOUBLE:
                data += varint(number << 3 | 1) + struct.pack("<d", 2.5)
                data += varint(number << 3 | 2) + b"\x10" + struct.pack("<dd", -1, 7)
        return data

    def value(self, field):
        pick = self.random
        kind = field.type
        if kind == Field.TYPE_ENUM:
            return pick.choice([0, 1, 1000, -2])
        if kind == Field.TYPE_BOOL:
            return pick.random() < 0.5
        if kind == Field.TYPE_STRING:
            return pick.choice(["", "a", "größer", "x" * pick.randint(0, 300)])
        if kind == Field.TYPE_BYTES:
            return pick.randbytes(pick.choice([0, 1, 5, 200]))
        if kind == Field.TYPE_DOUBLE:
            return pick.choice([0.0, -0.0, 1.5, 1e300, float("inf"), pick.gauss(0, 1)])
        if kind == Field.TYPE_FLOAT:
            number = pick.choice([0.0, 1.5, float("-inf"), pick.gauss(0, 1)])
            return struct.unpack("f", struct.pack("f", number))[0]
        signed = {Field.TYPE_INT32, Field.TYPE_SINT32, Field.TYPE_SFIXED32}
        unsigned = {Field.TYPE_UINT32, Field.TYPE_FIXED32}
        if kind in signed:
            return pick.choice([0, 1, -1, 127, 128, 2**31 - 1, -(2**31), pick.randint(-999, 999)])
        if kind in unsigned:
            return pick.choice([0, 1, 300, 2**32 - 1, pick.randint(0, 10**6)])
        if kind in {Field.TYPE_UINT64, Field.TYPE_FIXED64}:
            return pick.choice([0, 1, 2**63, 2**64 - 1, pick.randint(0, 10**12)])
        return pick.choice([0, 1, -1, 2**63 - 1, -(2**63), pick.randint(-(10**12), 10**12)])


def paths_of(descriptor, prefix=""):
    """(path, last field, number of repeated fields) of every field that is not a message."""
    for field in descriptor.fields:
        repeated = int(field.is_repeated)
        path = prefix + field.name
        if field.message_type:
            for inner, last, levels in paths_of(field.message_type, f"{path}."):
                yield inner, last, levels + repeated
        else:
            yield path, field, repeated


def expected(message, path):
    """The values of a path, as nested lists, as protobuf gives them."""
    name, _, rest = path.partition(".")
    field = message.DESCRIPTOR.fields_by_name[name]
    value = getattr(message, name)
    if field.message_type and field.message_type.GetOptions().map_entry:
        return [key if rest == "key" else value[key] for key in value]
    if field.is_repeated:
        return [expected(item, rest) if rest else item for item in value]
    return expected(value, rest) if rest else value
