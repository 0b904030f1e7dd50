//! Random names.

/// Random bytes as hexadecimal digits, which any URL can contain.
pub(super) fn hexadecimal<const BYTES: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    let digit = |value: u8| char::from_digit(value.into(), 16).expect("four bits are one digit");
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    Ok(digits.collect())
}
