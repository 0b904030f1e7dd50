//! Slots: a cluster assigns each key to one of 16384 slots, and each slot to one node.

/// The number of slots.
pub(super) const SLOTS: usize = 16384;

/// The slot of a key or channel. If the name contains braces, only the part in the first braces is used.
pub(super) fn slot_of(key: &[u8]) -> u16 {
    let hashed = match key.iter().position(|byte| *byte == b'{') {
        Some(open) => {
            let rest = &key[open + 1..];
            match rest.iter().position(|byte| *byte == b'}') {
                Some(length) if length > 0 => &rest[..length],
                _ => key,
            }
        }
        None => key,
    };
    crc16(hashed) & 0x3fff
}

/// CRC-16/XMODEM, as required by the specification of Redis Cluster.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc: u16, _| {
            let shifted = crc << 1;
            if crc & 0x8000 == 0 {
                shifted
            } else {
                shifted ^ 0x1021
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_specification() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        assert_eq!(slot_of(b"foo"), 12182);
        assert_eq!(slot_of(b"bar"), 5061);
        assert_eq!(
            slot_of(b"{user1000}.following"),
            slot_of(b"{user1000}.followers")
        );
        assert_eq!(slot_of(b"foo{}{bar}"), crc16(b"foo{}{bar}") & 0x3fff);
        assert_eq!(slot_of(b"foo{{bar}}zap"), crc16(b"{bar") & 0x3fff);
        assert_eq!(slot_of(b"foo{bar}{zap}"), slot_of(b"bar"));
        assert_eq!(slot_of(b"a{b"), crc16(b"a{b") & 0x3fff);
        assert_eq!(slot_of(b""), 0);
    }
}
