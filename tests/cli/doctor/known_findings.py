"""What there is to say about the files of shared/data: a pattern of paths, checks, and why."""

KNOWN = [
    ("AI-Hypercomputer*/3.0.1/*", {"constants"}, "'content-type' is always 'text/plain'"),
    ("AI-Hypercomputer*/3.0.5/*", {"equal_records"}, "30 sequences are repeated to make 1,024"),
    ("google+grain/*", {"other_records"}, "the records are text"),
    (
        "google+yggdrasil*/toy.*",
        {"empty_features", "feature_lengths"},
        "made to test values that are missing, and sets of categories",
    ),
    ("magenta+magenta/*", {"other_records"}, "the records are text"),
    ("podgorskiy+DareBlopy/*", {"constants"}, "the shape of all pictures is the same"),
    (
        "tensorflow+ranking/*",
        {"other_records", "equal_records"},
        "ExampleListWithContext; some files repeat a few lists",
    ),
    ("tensorflow+rust/*", {"other_records"}, "the record is text"),
    (
        "tensorflow+tensorflow/tensorflow/c/*",
        {"empty_features"},
        "two of three pictures have no boxes",
    ),
    ("tensorflow+tensorflow/*vocabulary*", {"other_records"}, "the records are words"),
    (
        "tensorflow+tfx/*/csv_example_gen/*",
        {"empty_features"},
        "fields of the CSV file are empty",
    ),
    (
        "tensorflow+tfx/*/external/tfrecord/*",
        {"empty_features", "float_integers"},
        "fields are empty; census tracts such as 17031980000 are floats, and no longer exact",
    ),
    ("tensorflow+tfx/*/tfrecord_sequence/*", {"empty_features"}, "fields are empty"),
    ("tensorflow+tfx/*/events.out.*", {"other_records"}, "events of TensorBoard"),
    ("tensorflow+tfx/*/tfjs_next_page*", {"equal_records"}, "short visits are equal"),
]
