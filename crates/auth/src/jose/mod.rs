//! Keys, signatures and tokens: the parts of JOSE that authorization needs.
