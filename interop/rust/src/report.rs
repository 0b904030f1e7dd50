//! One line for each check.

use std::{error::Error, fmt::Debug, future::Future, process::ExitCode, time::Duration};

/// How a check went; the text says what is wrong.
pub(crate) type Checked = Result<(), String>;

/// The longest that a check may take: far more than any of them needs.
const TIMEOUT: Duration = Duration::from_secs(45);

/// Whether all went well so far.
#[derive(Default)]
pub(crate) struct Report {
    failures: usize,
}

impl Report {
    /// Runs a check, and says how it went.
    pub(crate) async fn check(&mut self, name: &str, body: impl Future<Output = Checked>) {
        let outcome = tokio::time::timeout(TIMEOUT, body)
            .await
            .unwrap_or_else(|_| Err(format!("nothing happened for {TIMEOUT:?}")));
        match outcome {
            Ok(()) => println!("ok\t{name}"),
            Err(reason) => {
                self.failures += 1;
                let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
                println!("FAIL\t{name}\t{reason}");
            }
        }
    }

    /// Says that no check was left out.
    pub(crate) fn done(self) -> ExitCode {
        println!("done");
        if self.failures == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// The check fails unless both are the same.
pub(crate) fn same<T: PartialEq + Debug>(is: &T, wanted: &T) -> Checked {
    if is == wanted {
        Ok(())
    } else {
        Err(format!("it is {is:?}, not {wanted:?}"))
    }
}

/// An error and its causes in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
