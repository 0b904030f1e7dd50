//! Test Model Context Protocol servers and clients in process, at every revision.
