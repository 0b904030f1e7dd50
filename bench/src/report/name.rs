//! Readable names of functions.

/// A name without its generic parameters: `<Vec<T> as Clone>::clone` becomes `Vec of Clone::clone`.
pub(crate) fn plain(name: &str) -> String {
    let mut depth = 0_usize;
    let mut short = String::new();
    for letter in name.chars() {
        match letter {
            '<' if short.is_empty() => {}
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            '>' => {}
            _ if depth == 0 => short.push(letter),
            _ => {}
        }
    }
    short.replace(" as ", " of ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_parameters_are_left_out() {
        assert_eq!(plain("<Vec<T> as Clone>::clone"), "Vec of Clone::clone");
        assert_eq!(plain("a::b<c::D<E>>::f"), "a::b::f");
    }
}
