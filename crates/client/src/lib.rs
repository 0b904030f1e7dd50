//! A Model Context Protocol client for any server: revision and era are found out by itself.
