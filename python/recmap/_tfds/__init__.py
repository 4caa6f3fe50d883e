"""What recmap.tfds is made of: the metadata that TensorFlow Datasets (TFDS) puts beside its shards,
its splits, and the features that its connectors describe."""
