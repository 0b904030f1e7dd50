//! The checks of durations.

use crate::check::checks;

checks! { Time;
    TOTAL Error "time.total" {
        claim: "The examination ends within its time.",
        fix: "See at which step it was; `--timeout SECONDS` gives it more time.",
    }
    SLOW Warning "time.slow" {
        claim: "Everything but calls of tools is answered within 1 s.",
        breaks: "people who wait for their client to start",
        fix: "Compute lists once and keep them; do not ask other services for them each time.",
    }
}
