#include "terminal/options.h"

#include <stddef.h>

/* docs/man/options.cmake reads the definitions and rows of this file as text, because a build for
 * another machine cannot run the command. So a row has only literals, NULL and these names. */
#define READERS "annotate cat doctor duplicates find get report sample schema view"
#define VIEWERS "cat duplicates find get info order report sample schema select split verify view"

const struct option_row option_table[] = {
    /* index, and what verify shares with it */
    {OPTION_SPLIT, "split", "NAME", "index",
     "use the shards of a split: sets and files whose names are NAME, or end in -NAME, "
     "_NAME or .NAME"},
    {OPTION_SETS, "sets", "error|all", "index merge",
     "several sets in a folder, such as train and test, and copies of one set, such as x.tfrecord "
     "and x.tfrecord.gz, are an error (default), or are joined"},
    {OPTION_ID, "id", "FEATURE", "index",
     "make records findable by this bytes or int64 feature, which is an error if no record has it, "
     "or a warning with -o: the index may be a part for 'recmap merge'; with --descriptor, the "
     "field TYPE:PATH of a message, such as Scenario:scenario_id"},
    {OPTION_LIFT, "lift", "FEATURE[=DEFAULT]", "index",
     "copy this feature (one value per record) into a column of the index; a record without it "
     "gets DEFAULT, or see --missing-values; with --descriptor, the field PATH or TYPE:PATH of a "
     "message, which has its own default; repeatable"},
    {OPTION_MISSING_VALUES, "missing-values", "error|null", "index",
     "a record without a lifted feature that has no default is an error (default), or has a null"},
    {OPTION_COUNT, "count", "FEATURE[:DTYPE]", "index",
     "count the elements of this feature in each record, for rows of tokens or steps: the values "
     "of a feature, or the steps of a feature list; with DTYPE (uint16, ...), the numbers of that "
     "type in its value of bytes; a record without it counts 0; repeatable"},
    {OPTION_ON_BAD_RECORD, "on-bad-record", "error|skip", "index",
     "error (default): stop at the first damaged record\n"
     "skip: index the good records and list the damage in the index"},
    {OPTION_FRAMING, "framing", "auto|tfrecord|ofrecord|lines|csv|tar|fixed:H,R,F|./PLUGIN.so",
     "index",
     "how records are stored in the files:\n"
     "auto, tfrecord: TFRecord (default)\n"
     "ofrecord: OFRecord of OneFlow\n"
     "lines: one record per line, ended by LF or CR LF\n"
     "csv[:comma|tab|semicolon|pipe][,noquotes][,noheader]: one record per row; the first row of a "
     "file names the fields for --id and --lift\n"
     "tar: archives of WebDataset, one record per sample\n"
     "fixed: records of R bytes, after H and before F bytes per file\n"
     "./PLUGIN.so: a custom framing (see recmap/framing.h)"},
    {OPTION_COMPRESSION, "compression", "auto|none|gzip|zlib", "index",
     "how the shards are compressed; default: auto, detect by content"},
    {OPTION_FROM_IDX, "from-idx", "FOLDER", "index",
     "read record offsets from text indexes in FOLDER (NAME.idx, as DALI's tfrecord2idx writes "
     "them); verifies headers but not data"},
    {OPTION_APPEND, "append", NULL, "index",
     "add shards to an existing index, with its ids, columns and counts; existing records keep "
     "their numbers"},
    {OPTION_INDEX_ONLY, "index-only", NULL, "verify", "verify only the index; no shard is read"},
    {OPTION_INDEX_ONLY, "index-only", NULL, "doctor",
     "read no record: examine only the names of the shards, the metadata of TFDS beside them, and "
     "the index if one is given"},
    {OPTION_JSON, "json", NULL, "doctor verify", "print one JSON document"},
    {OPTION_THREADS, "threads", "N", "index verify",
     "number of threads; 0 (default): one per core, for URLs at least 4"},
    {OPTION_THREADS, "threads", "N", "doctor", "number of threads; 0 (default): one per core"},
    {OPTION_MEMORY_LIMIT, "memory-limit", "SIZE", "index",
     "upper bound on the memory for one compressed shard (64MiB, 1GB); default: a limit that "
     "follows the size of the file"},
    {OPTION_MEMORY_LIMIT, "memory-limit", "SIZE", "verify",
     "upper bound on the memory for one compressed shard (64MiB, 1GB), and for the list of "
     "damage; default: for a shard, a limit that follows the size of the file"},

    /* annotate */
    {OPTION_COLUMN, "column", "NAME=FILE", "annotate",
     "add column NAME with the values of field NAME of a CSV, TSV or JSON lines file (.csv, .tsv, "
     ".jsonl), whose field id or number names the record; repeatable"},
    {OPTION_DEFAULT, "default", "NAME=VALUE", "annotate",
     "the value of column NAME for records without a value; without it, see --missing-values"},
    {OPTION_MISSING_VALUES, "missing-values", "error|null", "annotate",
     "a record without a value of a column without a default is an error, or its value is null; "
     "default: null"},
    {OPTION_BY, "by", "id|number", "annotate",
     "the field of FILE that names the record; default: id, if FILE has it, else number"},
    {OPTION_UNMATCHED, "unmatched", "error|ignore", "annotate",
     "a row whose key no record has is an error (default), or left out"},
    {OPTION_DROP, "drop", "NAME", "annotate", "remove a column; repeatable"},
    {OPTION_RENAME, "rename", "OLD=NEW", "annotate", "rename a column; repeatable"},

    /* which records */
    {OPTION_BY, "by", "content|id|FEATURE", "duplicates",
     "content: compare payloads (default); 128-bit hashes are compared\n"
     "id: compare ids; reads only records whose ids may repeat\n"
     "FEATURE: compare the values of a feature; records without it equal none"},
    {OPTION_BY, "by", "number|id", "get", "what operands and lines of a file are; default: number"},
    {OPTION_FROM, "from", "FILE", "get",
     "also the records that FILE names, one to a line; - is standard input"},
    {OPTION_FEATURE, "feature", "NAME", "get",
     "write only the values of this feature: bytes as they are, numbers as text, one line per "
     "record; of CSV and JSON lines, this field and a line end"},
    {OPTION_PIXELS, "pixels", NULL, "get",
     "decode the pictures of --feature, as recmap.Image does for a loader, and write each as a PPM "
     "file (P6), or with --mode L as a PGM file (P5)"},
    {OPTION_SIZE, "size", "SIZE", "get",
     "height and width of the pixels: 224, or HEIGHTxWIDTH; default: those of the picture, or of "
     "the crop"},
    {OPTION_CROP, "crop", "none|random|center|padded|exact", "get",
     "what is scaled to --size: the whole picture (none, the default), a random rectangle (random, "
     "RandomResizedCrop in Python), the centre (center, CenterCrop), or a random rectangle that is "
     "cut without scaling (padded, RandomCrop); exact: a picture of another size is an error"},
    {OPTION_SCALE, "scale", "MIN,MAX", "get",
     "share of the area of a random rectangle (default 0.08,1)"},
    {OPTION_RATIO, "ratio", "MIN,MAX", "get",
     "width by height of a random rectangle (default 0.75,1.3333333333333333)"},
    {OPTION_RESIZE, "resize", "N", "get",
     "the shorter side is scaled to N pixels, of which the centre is cut (default 256)"},
    {OPTION_PADDING, "padding", "N", "get",
     "pixels added at each side before a padded crop (default 4)"},
    {OPTION_FILL, "fill", "LEVEL", "get", "the level of these pixels, 0 to 255 (default 0)"},
    {OPTION_FLIP, "flip", "P", "get", "probability of a horizontal flip (default 0)"},
    {OPTION_MODE, "mode", "RGB|L", "get", "colours (default), or gray"},
    {OPTION_DTYPE, "dtype", "uint8|uint16", "get",
     "bits of a channel: 8 (default), or 16, for depths and labels"},
    {OPTION_INTERPOLATION, "interpolation", "bilinear|bicubic|nearest", "get",
     "how pixels are scaled; default: bilinear"},
    {OPTION_NO_ANTIALIAS, "no-antialias", NULL, "get",
     "do not widen the filter where a picture is made smaller"},
    {OPTION_NO_EXIF, "no-exif", NULL, "get",
     "do not turn pictures upright as their EXIF data says"},
    {OPTION_MAX_PIXELS, "max-pixels", "N", "get",
     "refuse larger pictures; default: 67108864 pixels"},
    {OPTION_DRAW, "draw", "NAME", "get",
     "the name of the random draws, as of recmap.Image; default: no name"},
    {OPTION_SEED, "seed", "S", "get", "seed of the loader, for --pixels (default 0)"},
    {OPTION_EPOCH, "epoch", "E", "get", "epoch of the loader, for --pixels (default 0)"},
    {OPTION_POSITION, "position", "P", "get",
     "position in the epoch, if the loader's order may hold a record twice"},
    {OPTION_WHERE, "where", "EXPRESSION", "select",
     "such as \"label == 3 and lang in ('de', 'fr')\": comparisons of columns, `length` (bytes of "
     "a record) and values, with and, or, not; columns['a/b'] is a column whose name is not a "
     "plain name"},
    {OPTION_WHERE, "where", "EXPRESSION", "cat sample",
     "only records for which this is true; see 'recmap select --help'"},
    {OPTION_SAMPLE, "sample", "N", "report",
     "number of records, from all parts, whose features are shown (default 1000, or fewer if they "
     "are large; 0: all)"},
    {OPTION_SAMPLE, "sample", "N", "doctor", "read N records from all parts; default: 0, all"},
    {OPTION_SAMPLE, "sample", "N", "schema",
     "read N records from all parts (default 1000); 0: all"},
    {OPTION_SHUFFLE, "shuffle", NULL, "cat order",
     "shuffle; the order depends only on the seed and the epoch"},
    {OPTION_SHUFFLE, "shuffle", NULL, "report",
     "show in which order a shuffled epoch reads the records"},
    {OPTION_SEED, "seed", "S", "cat order report", "seed of the shuffle (default 0)"},
    {OPTION_SEED, "seed", "S", "sample", "seed of the sample (default 0)"},
    {OPTION_SEED, "seed", "S", "split", "seed of the hash (default 0)"},
    {OPTION_EPOCH, "epoch", "E", "cat order report", "epoch of the shuffle (default 0)"},
    {OPTION_FROM, "from", "POSITION", "cat order",
     "start at this position of the epoch (default 0)"},
    {OPTION_COUNT, "count", "N", "cat order", "at most N records or rows"},
    {OPTION_RANK, "rank", "R", "cat order",
     "only the share of this rank; needs --world-size and --batch-size"},
    {OPTION_WORLD_SIZE, "world-size", "W", "cat order", "number of ranks"},
    {OPTION_BATCH_SIZE, "batch-size", "B", "cat order", "records or rows per rank and step"},
    {OPTION_LAST, "last", "keep|drop|pad", "cat order",
     "what to do with a last step that is not full: share it evenly (keep, the default), drop it, "
     "or fill it from the epoch's start"},
    {OPTION_SEED, "seed", "S", "warm",
     "read what an epoch of the shuffle with this seed reads (default 0), in its sequence"},
    {OPTION_EPOCH, "epoch", "E", "warm", "epoch of the shuffle (default 0)"},
    {OPTION_FROM, "from", "POSITION", "warm",
     "the run begins at this position of the epoch (default 0)"},
    {OPTION_COUNT, "count", "N", "warm", "what the first N records need"},
    {OPTION_NODE, "node", "K/N", "warm",
     "only what the ranks of node K of N read, counted from 0; ranks are numbered node by node"},
    {OPTION_WORLD_SIZE, "world-size", "W", "warm",
     "with --node: number of ranks of all nodes; default: one on each node"},
    {OPTION_BATCH_SIZE, "batch-size", "B", "warm", "with --node: records per rank and step"},
    {OPTION_LAST, "last", "keep|drop|pad", "warm",
     "with --node: what is done with a last step that is not full: it is shared evenly (keep, the "
     "default), dropped, or filled from the epoch's start"},
    {OPTION_STEP, "step", "N", "order",
     "only step N of a run, counted from 0 over its epochs; the run begins at --from of --epoch; "
     "needs --world-size and --batch-size; without --rank, the records of all ranks"},
    {OPTION_STATE, "state", "FILE", "order",
     "with --step: the run resumes from the state in this JSON file, which names the order, the "
     "epoch and the position"},
    {OPTION_POSITION_OF, "position-of", "NUMBER", "order",
     "print the position of the record with this number"},
    {OPTION_DESCRIBE, "describe", NULL, "order",
     "print the description of the order, which states contain"},

    /* what to print or write */
    {OPTION_SHARDS, "shards", NULL, "info",
     "also list the shards: first record, records, bytes, path"},
    {OPTION_JSON, "json", NULL, "info", "print one JSON document"},
    {OPTION_JSON, "json", NULL, "schema",
     "print JSON: {NAME: {\"kind\", \"share\", \"min_length\", ...}}"},
    {OPTION_BATCH_SIZE, "batch-size", "B", "info",
     "for the number of requests: the records of a batch; default: 256"},
    {OPTION_FEATURES, "features", "python|c|tf", "schema",
     "print source text: the features for a parser, in this language, or for tf.io.parse_example"},
    {OPTION_PORT, "port", "N", "view",
     "listen on this port of 127.0.0.1 (default: any that is free)"},
    {OPTION_NO_BROWSER, "no-browser", NULL, "view", "only print the address"},
    {OPTION_TO, "to", "idx", "export", "output format (required)"},
    {OPTION_FORMAT, "format", "json", "import",
     "input format (the only one): protobuf's JSON mapping of tf.Example or tf.SequenceExample, "
     "or {\"base64\": \"...\"} for any bytes"},
    {OPTION_DECOMPRESS, "decompress", NULL, "cat",
     "write plain shards with their index: -o NAME@N; the records keep their numbers, ids and "
     "columns"},
    {OPTION_FORMAT, "format", "raw|tfrecord|json|number", "cat get sample",
     "raw: payloads, concatenated\n"
     "tfrecord: a TFRecord file\n"
     "json: one record per line, in protobuf's JSON mapping\n"
     "number: record numbers; no data is read\n"
     "default: raw to a file or pipe, a preview to a terminal"},
    {OPTION_OUTPUT, "output", "FILE", "cat get import",
     "write to FILE, which appears when it is complete; default: -, standard output"},
    {OPTION_OUTPUT, "output", "FILE", "sample",
     "write to FILE, which appears when it is complete; NAME.rmv is a selection of the records; "
     "default: -, standard output"},
    {OPTION_OUTPUT, "output", "FILE", "report",
     "write to FILE, which appears when it is complete; default: -, standard output, unless it is "
     "a terminal"},
    {OPTION_OUTPUT, "output", "NAME.tfrecord", "cat get sample",
     "without --format: write a TFRecord file and its index NAME.rmx, with the ids, counts and "
     "lifted columns of the records"},
    {OPTION_OUTPUT, "output", "NAME@N", "cat get sample",
     "write N TFRecord files, NAME-00000-of-0000N and so on, of consecutive records, and their "
     "index NAME.rmx; with N.tfrecord, names end in .tfrecord; files whose names end in .gz or "
     ".zlib are compressed"},
    {OPTION_OUTPUT, "output", "NAME.rmv", "duplicates select",
     "write to this file, which appears when it is complete"},
    {OPTION_OUTPUT, "output", "NAME.rmv", "doctor",
     "also write a selection of the records that errors and warnings are about, which needs an "
     "index: one is built beside the shards if there is none"},
    {OPTION_OUTPUT, "output", "NAME.rmx", "index",
     "the index; default: next to the first shard (in the current folder if that is a URL), named "
     "after the set of shards (train-00000-of-00004.tfrecord and so on: train.rmx)"},
    {OPTION_OUTPUT, "output", "NAME.rmx", "merge",
     "the merged index (required); must not be one of the parts"},
    {OPTION_OUTPUT, "output", "FOLDER", "export",
     "write to FOLDER, created if needed; default: beside the shards, if they are below the "
     "folder of NAME.rmx"},
    {OPTION_OUTPUT, "output", "FOLDER", "split",
     "write the selections to FOLDER, created if needed; default: the current one"},

    /* how to read */
    {OPTION_ACCESS, "access", "map|read|direct|auto", READERS " index",
     "how to read shards; default: map"},
    {OPTION_CHECK, "check", "data|header", READERS, "what to verify in a record; default: data"},
    {OPTION_PLUGIN, "framing", "./PLUGIN.so", VIEWERS " annotate doctor merge warm",
     "load the custom framing of the shards"},
    {OPTION_DECODER, "decoder", "./DECODER.so", "doctor get report view",
     "also decode pictures with this shared object, whose code runs in this process (see "
     "recmap/image_decoder.h); repeatable"},
    {OPTION_DESCRIPTOR, "descriptor", "FILE", "cat find get index sample schema",
     "the records are protobuf messages of a type of this descriptor set, as protoc "
     "--include_imports --descriptor_set_out=FILE writes it"},
    {OPTION_MESSAGE, "message", "TYPE", "cat find get index sample schema",
     "their type: its full name, or the last part of it; default: the type of the ids"},
    {OPTION_INDEX, "index", "NAME.rmx", VIEWERS " doctor warm",
     "open a selection (.rmv) with this index, if it was moved"},
    {OPTION_SHARDS_FOLDER, "shards", "FOLDER", READERS " verify warm",
     "read the shards from FOLDER or URL, if the index was moved"},
    {OPTION_STORAGE, "storage", "KEY=VALUE", READERS " index info order select verify warm",
     "an option for remote stores: endpoint, region, key, secret, anonymous, ...; repeatable"},
    {OPTION_CACHE, "cache", "FOLDER", READERS " info order select warm",
     "keep what is read from remote stores, and inflated parts of compressed shards, on the local "
     "disk"},
    {OPTION_CACHE_SIZE, "cache-size", "SIZE", READERS " info order select warm",
     "maximum size of the cache, such as 200GB; default: a tenth of the disk stays free"},
    {OPTION_HELP, "help", NULL, NULL, "print this help"},

    /* rows */
    {OPTION_NONE, NULL, NULL, "order",
     "Rows, from the element counts of an index made with --count; always shuffled:"},
    {OPTION_NONE, NULL, NULL, "report",
     "To show with which records the rows of an epoch begin (see 'recmap order --help'):"},
    {OPTION_CHUNKED, "chunked", "SIZE", "order report",
     "join the documents and cut them into rows of SIZE elements"},
    {OPTION_PACKED, "packed", "SIZE", "order report",
     "pack documents into rows of at most SIZE elements"},
    {OPTION_WINDOWS, "windows", "SIZE", "order report",
     "every stretch of SIZE elements of a record"},
    {OPTION_FEATURE, "feature", "NAME", "order report",
     "the counted feature (default: the only one)"},
    {OPTION_JSON, "json", NULL, "order",
     "print JSON lines: the position, row and pieces of each row"},
    {OPTION_ADD, "add", "N", "order report", "elements added to each document (chunked, packed)"},
    {OPTION_OVERLAP, "overlap", "N", "order report",
     "elements of the next row that a row also has (chunked)"},
    {OPTION_DOCUMENTS, "documents", "shuffled|stored", "order report",
     "order in which documents are joined (chunked; default shuffled)"},
    {OPTION_TAIL, "tail", "drop|pad", "order report",
     "what to do with elements that do not fill a row: leave them out (default), or make them a "
     "shorter row (chunked)"},
    {OPTION_LONG_DOCUMENTS, "long", "split|truncate|drop", "order report",
     "what to do with documents longer than a row: split them (default), use only their first "
     "elements, or leave them out (packed)"},
    {OPTION_GROUP, "group", "N", "order report",
     "documents packed together, at most 65536 (packed; default 4096)"},
    {OPTION_STRIDE, "stride", "N", "order report",
     "from the start of a window to the next (windows; default 1)"},
    {OPTION_PAD, "pad", "BEFORE,AFTER", "order report",
     "how far windows reach past the ends of a record (windows; default 0,0)"},
    {0}};
