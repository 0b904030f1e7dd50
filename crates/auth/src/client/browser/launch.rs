//! Opens the browser of this machine.

use std::io;
use std::process::{Command, Stdio};

/// Opens a URL in the user's default browser, and returns without waiting for it.
///
/// The URL is passed as one argument and never through a shell, because it may come from a server.
/// On Linux the programs in `$BROWSER` are tried first, then `xdg-open` and others if there is a
/// screen.
///
/// # Errors
/// An I/O error if no program can be started, or there is no screen. This does not check that the
/// browser shows the page.
pub fn open_in_browser(url: &str) -> io::Result<()> {
    let mut last = io::Error::other("there is no program to open a browser with");
    for (program, arguments) in openers() {
        let started = Command::new(&program)
            .args(arguments)
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match started {
            Ok(mut child) => {
                // Wait for the program, or it remains a zombie process.
                std::thread::spawn(move || child.wait());
                return Ok(());
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(target_os = "macos")]
fn openers() -> Vec<(String, Vec<String>)> {
    vec![("open".to_owned(), vec![])]
}

#[cfg(windows)]
fn openers() -> Vec<(String, Vec<String>)> {
    // Do not use `start`: it is a command of the shell, which would interpret `&` in the URL.
    vec![(
        "rundll32".to_owned(),
        vec!["url.dll,FileProtocolHandler".to_owned()],
    )]
}

#[cfg(not(any(target_os = "macos", windows)))]
fn openers() -> Vec<(String, Vec<String>)> {
    let own = std::env::var("BROWSER").ok().filter(|own| !own.is_empty());
    let own = own.into_iter().flat_map(|own| {
        let programs: Vec<_> = own.split(':').map(str::to_owned).collect();
        programs
    });
    // A machine without a screen may still have `xdg-open`, which would report success.
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    let usual = ["xdg-open", "wslview", "gio"].map(str::to_owned);
    own.chain(usual.into_iter().filter(move |_| has_screen))
        .map(|program| {
            let arguments = match &*program {
                "gio" => vec!["open".to_owned()],
                _ => vec![],
            };
            (program, arguments)
        })
        .collect()
}
