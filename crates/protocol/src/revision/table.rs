//! The revisions, one row each.

/// Passes the rows of all revisions to a macro: docs, variant, module and date, oldest first.
///
/// Everything that exists once for each revision is generated from these rows, so a new revision takes
/// a row here and a file in this folder.
#[doc(hidden)]
#[macro_export]
macro_rules! each_revision {
    ($($then:tt)+) => {
        $crate::__with_draft! {
            { $($then)+ }
            /// 2024-11-05, the first.
            V2024_11_05 v2024_11_05 "2024-11-05";
            /// 2025-03-26: Streamable HTTP, batches, tool annotations, audio.
            V2025_03_26 v2025_03_26 "2025-03-26";
            /// 2025-06-18: structured results, elicitation, resource links; batches removed.
            V2025_06_18 v2025_06_18 "2025-06-18";
            /// 2025-11-25: tasks, icons, tools in sampling, URL elicitation.
            V2025_11_25 v2025_11_25 "2025-11-25";
            /// 2026-07-28: no handshake and no session; each request contains all its metadata.
            V2026_07_28 v2026_07_28 "2026-07-28";
        }
    };
}

/// Adds the row of the draft, if the feature is on. A `cfg` inside the rows would check the features of
/// the crate that uses the macro.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "draft-revision")]
macro_rules! __with_draft {
    ({ $($then:tt)+ } $($rows:tt)+) => {
        $($then)+! {
            $($rows)+
            /// A revision that does not exist, for tests.
            Draft draft "DRAFT";
        }
    };
}

#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "draft-revision"))]
macro_rules! __with_draft {
    ({ $($then:tt)+ } $($rows:tt)+) => {
        $($then)+! { $($rows)+ }
    };
}
