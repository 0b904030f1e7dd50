//! Servers that are protected: tokens are verified, and clients told where to get them.
