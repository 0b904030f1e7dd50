//! Typed Model Context Protocol servers: write a handler once, serve every revision.
