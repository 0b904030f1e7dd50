//! Passes a URL with a key to the browser.
//!
//! Every user of a machine can read the arguments of programs. So the browser gets the name of a file that only
//! this user can read, and the file redirects to the URL.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use turnbuckle::auth::client::open_in_browser;
use turnbuckle_command_line::private;

/// The file, in a folder of its own. Both are removed when this is dropped.
pub(super) struct Handoff(PathBuf);

impl Handoff {
    /// Opens a URL in the browser; `None` if there is no browser, or no folder for the file.
    pub(super) fn open(url: &str) -> Option<Self> {
        let handoff = Self::write(url).ok()?;
        open_in_browser(&handoff.address()?).ok()?;
        Some(handoff)
    }

    fn write(url: &str) -> io::Result<Self> {
        let handoff = Self(private::make_unique_folder(&place(), "turnbuckle")?);
        let mut file = private::create_new(&handoff.file())?;
        file.write_all(page(url).as_bytes())?;
        Ok(handoff)
    }

    fn file(&self) -> PathBuf {
        self.0.join("open.html")
    }

    fn address(&self) -> Option<String> {
        let path = self.file();
        let path = path.to_str()?.replace('\\', "/");
        let path = path.trim_start_matches('/').replace('%', "%25");
        Some(format!("file:///{}", path.replace(' ', "%20")))
    }
}

impl Drop for Handoff {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.file());
        let _ = fs::remove_dir(&self.0);
    }
}

/// The user's own folder for files that are removed when the user logs out, or else the temporary folder.
fn place() -> PathBuf {
    let own = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = own.filter(|path| path.is_absolute() && Path::is_dir(path));
    own.unwrap_or_else(env::temp_dir)
}

/// A page that redirects at once. The URL contains only characters that need no escaping in HTML.
fn page(url: &str) -> String {
    format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>turnbuckle</title>\
         <a href=\"{url}\">Open the inspector</a>\n"
    )
}
