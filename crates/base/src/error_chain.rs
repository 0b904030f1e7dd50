//! An error and its causes.

use std::{error::Error, iter};

/// The causes of `error`, nearest first, without the error itself.
pub fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(error.source(), |&cause| cause.source())
}

/// The first error of type `E`: `error` itself, or one of its causes.
pub fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    iter::once(error)
        .chain(causes(error))
        .find_map(|error| error.downcast_ref())
}

/// The error and its causes in one line, separated by colons.
///
/// A cause whose text is already part of the line is left out, because many errors repeat their
/// cause in their own message.
pub fn in_one_line(error: &(dyn Error + 'static)) -> String {
    let mut line = error.to_string();
    for cause in causes(error) {
        let text = cause.to_string();
        if !line.contains(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|layer| layer as _)
        }
    }

    fn layers(texts: &[&'static str]) -> Layer {
        let (first, rest) = texts.split_first().expect("there is a text");
        Layer(first, (!rest.is_empty()).then(|| Box::new(layers(rest))))
    }

    #[test]
    fn causes_follow_their_error() {
        let error = layers(&["cannot connect", "no route", "network is down"]);
        assert_eq!(
            in_one_line(&error),
            "cannot connect: no route: network is down"
        );
        assert_eq!(causes(&error).count(), 2);
    }

    #[test]
    fn a_repeated_cause_is_written_once() {
        let error = layers(&["cannot read: no such file", "no such file"]);
        assert_eq!(in_one_line(&error), "cannot read: no such file");
    }

    #[test]
    fn an_error_is_found_by_its_type() {
        let inner = std::io::Error::other(layers(&["inner"]));
        assert!(find::<std::io::Error>(&inner).is_some());
        assert!(find::<std::num::ParseIntError>(&inner).is_none());
    }
}
