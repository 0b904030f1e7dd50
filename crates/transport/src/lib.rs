//! Transports for the Model Context Protocol: memory, stdio, child processes, any AsyncRead and AsyncWrite pair.
