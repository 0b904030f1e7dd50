//! Tests of the merged catalog.
