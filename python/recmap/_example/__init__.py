"""tf.Example: the features to parse, encoding and decoding."""
