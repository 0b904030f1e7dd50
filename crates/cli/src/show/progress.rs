//! A progress line on stderr while a call runs, removed at its end.

use std::{
    cell::Cell,
    io::{self, IsTerminal as _},
    sync::Mutex,
    time::Instant,
};

use turnbuckle::protocol::ProgressNotificationParams;

use turnbuckle_command_line::{
    control::{is_order, show},
    style::elapsed,
};

/// The width of the bar, in characters.
const BAR: usize = 16;

/// The longest message that is shown, in characters: a line that wraps could not be removed.
const MAX_MESSAGE: usize = 40;

/// A progress line. Nothing is shown if stderr is not a terminal.
pub(crate) struct ProgressLine {
    started: Instant,
    is_wanted: bool,
    is_shown: Mutex<Cell<bool>>,
}

impl ProgressLine {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            is_wanted: io::stderr().is_terminal(),
            is_shown: Mutex::default(),
        }
    }

    pub(crate) fn show(&self, report: &ProgressNotificationParams) {
        if !self.is_wanted {
            return;
        }
        let text = line(
            report.progress,
            report.total,
            report.message.as_deref().unwrap_or_default(),
        );
        let elapsed = elapsed(self.started.elapsed());
        show(&format!("\r\x1b[2K{text} {elapsed}"));
        self.mark(true);
    }

    /// Removes the line, if there is one.
    pub(crate) fn clear(&self) {
        if self.mark(false) {
            show("\r\x1b[2K");
        }
    }

    fn mark(&self, is_shown: bool) -> bool {
        let shown = self.is_shown.lock();
        shown.is_ok_and(|shown| shown.replace(is_shown))
    }
}

/// Removes the line of an interrupted call too.
impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

fn line(progress: f64, total: Option<f64>, message: &str) -> String {
    let message: String = message
        .chars()
        .filter(|letter| !is_order(*letter) && !letter.is_control())
        .take(MAX_MESSAGE)
        .collect();
    let Some(total) = total.filter(|total| *total > 0.0) else {
        return format!("{progress} {message}");
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "it is between 0 and the width of the bar"
    )]
    let full = ((progress / total).clamp(0.0, 1.0) * BAR as f64).round() as usize;
    let bar = format!("{}{}", "▓".repeat(full), "░".repeat(BAR - full));
    format!("{bar} {progress}/{total} {message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_full_as_the_work_is_done() {
        assert_eq!(
            line(4.0, Some(8.0), "step 4"),
            "▓▓▓▓▓▓▓▓░░░░░░░░ 4/8 step 4"
        );
        assert_eq!(line(9.0, Some(8.0), ""), "▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓ 9/8 ");
        assert_eq!(line(3.0, None, "x\x1b[2J"), "3 x[2J");
        assert_eq!(line(f64::NAN, Some(1.0), ""), "░░░░░░░░░░░░░░░░ NaN/1 ");
    }
}
