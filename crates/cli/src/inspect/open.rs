//! Opening the browser of this machine.

use std::process::{Command, Stdio};

/// Opens a URL in the user's browser; `false` if there is nothing to open it with.
///
/// The URL is one argument, and no shell sees it.
pub(crate) fn open_in_browser(url: &str) -> bool {
    openers().into_iter().any(|(program, arguments)| {
        let started = Command::new(program)
            .args(arguments)
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match started {
            Ok(mut child) => {
                // Whoever was started is waited for, or it stays a zombie.
                std::thread::spawn(move || child.wait());
                true
            }
            Err(_) => false,
        }
    })
}

#[cfg(target_os = "macos")]
fn openers() -> Vec<(String, &'static [&'static str])> {
    vec![("open".to_owned(), &[])]
}

#[cfg(windows)]
fn openers() -> Vec<(String, &'static [&'static str])> {
    // `start` is a command of the shell, which would read `&` in the URL.
    vec![("rundll32".to_owned(), &["url.dll,FileProtocolHandler"])]
}

#[cfg(not(any(target_os = "macos", windows)))]
fn openers() -> Vec<(String, &'static [&'static str])> {
    let own = std::env::var("BROWSER").ok().filter(|own| !own.is_empty());
    // A machine without a screen has `xdg-open` at times, and it would report success.
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    let usual = [("xdg-open", &[][..]), ("wslview", &[]), ("gio", &["open"])];
    let usual = usual.into_iter().filter(|_| has_screen);
    let own = own.into_iter().map(|own| (own, &[][..]));
    own.chain(usual.map(|(name, arguments)| (name.to_owned(), arguments)))
        .collect()
}
