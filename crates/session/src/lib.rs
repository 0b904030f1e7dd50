//! The eras of the Model Context Protocol without I/O: handshake, negotiation, request tables, cancellation, progress, era detection.
