//! Images and sounds: shown if the terminal supports it, otherwise saved to a file whose name is printed.

use std::fmt::Write as _;
use std::{
    env,
    io::{self, IsTerminal as _},
    path::PathBuf,
    sync::OnceLock,
};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::Args;
use turnbuckle_command_line::{control::for_stdout, private, style::bytes};

use super::print::not_saved;

/// What to do with images and sounds.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Media {
    /// Save pictures, sounds and other bytes in this folder; otherwise in a temporary one.
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,

    /// The temporary folder, once it is created.
    #[arg(skip)]
    temporary: OnceLock<PathBuf>,
}

/// The protocol with which a terminal shows images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inline {
    Kitty,
    Iterm,
}

/// The most characters in one chunk of an image, in kitty's protocol.
const KITTY_CHUNK: usize = 4096;

impl Media {
    /// One image or sound as a line of text, with the image before it if the terminal can show it.
    pub(crate) fn shown(&self, what: &str, mime_type: &str, base64: &str) -> String {
        let mime_type = &*for_stdout(mime_type);
        let Ok(content) = BASE64_STANDARD.decode(base64) else {
            return format!("[{what} {mime_type}, not valid base64]");
        };
        let size = bytes(content.len());
        let saved = match self.write(what, mime_type, &content) {
            Ok(path) => path.display().to_string(),
            Err(error) => {
                let said = format!("not saved: {error}");
                not_saved(error);
                said
            }
        };
        let line = format!("[{what} {mime_type}, {size}: {saved}]");
        match inline().filter(|_| what == "image") {
            Some(Inline::Kitty) if mime_type == "image/png" => format!("{}\n{line}", kitty(base64)),
            Some(Inline::Iterm) => {
                let length = content.len();
                format!("\x1b]1337;File=inline=1;size={length}:{base64}\x07\n{line}")
            }
            _ => line,
        }
    }

    /// Writes it to a file with an unused name.
    fn write(&self, what: &str, mime_type: &str, content: &[u8]) -> io::Result<PathBuf> {
        let folder = match (&self.save, self.temporary.get()) {
            (Some(folder), _) => {
                private::make_folder(folder)?;
                folder.clone()
            }
            (None, Some(folder)) => folder.clone(),
            (None, None) => {
                let made = private::make_unique_folder(&env::temp_dir(), "turnbuckle")?;
                self.temporary.get_or_init(|| made).clone()
            }
        };
        for number in 1..=MAX_FILES {
            let path = folder.join(format!("{what}-{number}.{}", extension(mime_type)));
            match private::create_new(&path) {
                Ok(mut file) => {
                    io::Write::write_all(&mut file, content)?;
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("there are too many files in the folder"))
    }
}

/// How many files of a kind are written to one folder.
const MAX_FILES: usize = 10_000;

/// The file ending for a media type, which a server may have made up.
fn extension(mime_type: &str) -> String {
    let kind = mime_type.split(';').next().unwrap_or_default();
    let kind = kind.rsplit('/').next().unwrap_or_default();
    match kind.trim() {
        "jpeg" => "jpg".to_owned(),
        "svg+xml" => "svg".to_owned(),
        "mpeg" => "mp3".to_owned(),
        "octet-stream" | "" => "bin".to_owned(),
        other => other
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(8)
            .collect(),
    }
}

/// The protocol that the terminal announces. Programs get no images.
fn inline() -> Option<Inline> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let program = env::var("TERM_PROGRAM").unwrap_or_default();
    let terminal = env::var("TERM").unwrap_or_default();
    if env::var_os("KITTY_WINDOW_ID").is_some()
        || terminal.contains("kitty")
        || program == "ghostty"
    {
        return Some(Inline::Kitty);
    }
    matches!(program.as_str(), "iTerm.app" | "WezTerm").then_some(Inline::Iterm)
}

fn kitty(base64: &str) -> String {
    let mut text = String::new();
    let mut rest = base64;
    let mut keys = "a=T,f=100,";
    while !rest.is_empty() {
        // Base64 is ASCII, or it would not have been decoded.
        let (piece, more) = rest.split_at(rest.len().min(KITTY_CHUNK));
        let is_more = u8::from(!more.is_empty());
        // Writing to a String cannot fail.
        let _ = write!(text, "\x1b_G{keys}m={is_more};{piece}\x1b\\");
        keys = "";
        rest = more;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_a_server_made_up_is_not_used_as_a_path() {
        assert_eq!(extension("image/png"), "png");
        assert_eq!(extension("image/svg+xml; charset=utf-8"), "svg");
        assert_eq!(extension("../../etc/pass.wd"), "passwd");
        assert_eq!(extension(""), "bin");
    }

    #[test]
    fn a_long_picture_goes_in_pieces() {
        let text = kitty(&"A".repeat(KITTY_CHUNK + 4));
        assert!(text.starts_with("\x1b_Ga=T,f=100,m=1;AAAA"));
        assert!(text.ends_with("\x1b_Gm=0;AAAA\x1b\\"));
    }
}
