//! The authorization server, asked over real sockets.

#![cfg(feature = "authorization")]

mod authorization;
