//! The places where hosts keep their config files.

use std::path::{Path, PathBuf};

/// A location where a config file may be, from [`Places::all`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The application that keeps its servers there, such as `VS Code`, or `any host` for files
    /// that several applications share.
    pub host: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Who controls the file.
    pub owner: PlaceOwner,
}

/// Who controls a config file, and therefore what it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceOwner {
    /// The file belongs to a project and may come from anyone, so ask the user before you start a
    /// server from it.
    Project,
    /// The file belongs to the user: it is in the home folder or in the folder for settings.
    User,
    /// The caller named the file.
    Caller,
}

/// The base folders of the usual locations of config files. Make it with
/// [`of_process`](Self::of_process), or by hand for tests.
#[derive(Clone, Debug)]
pub struct Places {
    /// The current folder. Its parents are searched too, up to the home folder.
    pub folder: PathBuf,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// The folder for settings: `$XDG_CONFIG_HOME` or `~/.config`, `~/Library/Application Support`
    /// on macOS, `%APPDATA%` on Windows.
    pub settings: Option<PathBuf>,
}

/// Files of a project, looked for in the current folder and its parents.
const PROJECT: [(&str, &str); 11] = [
    ("Turnbuckle", "turnbuckle.toml"),
    ("any host", "mcp.json"),
    ("Claude Code", ".mcp.json"),
    ("VS Code", ".vscode/mcp.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("Codex", ".codex/config.toml"),
    ("Gemini CLI", ".gemini/settings.json"),
    ("Zed", ".zed/settings.json"),
    ("opencode", "opencode.json"),
    ("Roo Code", ".roo/mcp.json"),
    ("Kiro", ".kiro/settings/mcp.json"),
];

/// Files in the home folder.
const HOME: [(&str, &str); 12] = [
    ("Claude Code", ".claude.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("Codex", ".codex/config.toml"),
    ("Windsurf", ".codeium/windsurf/mcp_config.json"),
    ("Gemini CLI", ".gemini/settings.json"),
    ("Kiro", ".kiro/settings/mcp.json"),
    ("LM Studio", ".lmstudio/mcp.json"),
    ("Amazon Q", ".aws/amazonq/mcp.json"),
    ("Copilot CLI", ".copilot/mcp-config.json"),
    ("Continue", ".continue/config.yaml"),
    ("Zed", ".config/zed/settings.json"),
    ("opencode", ".config/opencode/opencode.json"),
];

/// Files in the folder for settings.
const SETTINGS: [(&str, &str); 6] = [
    ("Turnbuckle", "turnbuckle/servers.toml"),
    ("Turnbuckle", "turnbuckle/servers.json"),
    ("Claude Desktop", "Claude/claude_desktop_config.json"),
    ("VS Code", "Code/User/mcp.json"),
    ("VS Code", "Code/User/settings.json"),
    (
        "Cline",
        "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    ),
];

impl Places {
    /// The base folders of this process: its current folder, and the home and config folders of its
    /// user.
    pub fn of_process() -> Self {
        let variable = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = std::env::home_dir();
        let settings = if cfg!(windows) {
            variable("APPDATA")
        } else if cfg!(target_os = "macos") {
            home.as_ref()
                .map(|home| home.join("Library/Application Support"))
        } else {
            variable("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config")))
        };
        Self {
            folder: std::env::current_dir().unwrap_or_default(),
            home,
            settings,
        }
    }

    /// All locations where a config file may be, nearest first: those of the project before those
    /// of the user.
    pub fn all(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for folder in self.project_folders() {
            places.extend(within(folder, &PROJECT, PlaceOwner::Project));
        }
        if let Some(settings) = &self.settings {
            places.extend(within(settings, &SETTINGS, PlaceOwner::User));
        }
        if let Some(home) = &self.home {
            places.extend(within(home, &HOME, PlaceOwner::User));
        }
        places.dedup_by(|one, other| one.path == other.path);
        places
    }

    /// The current folder and its parents below the home folder. Files in the home folder itself
    /// belong to the user.
    fn project_folders(&self) -> impl Iterator<Item = &Path> {
        let home = self.home.as_deref();
        self.folder
            .ancestors()
            .take_while(move |folder| home.is_none_or(|home| *folder != home))
            .filter(|folder| folder.parent().is_some())
    }
}

fn within(
    folder: &Path,
    files: &[(&'static str, &str)],
    owner: PlaceOwner,
) -> impl Iterator<Item = Place> {
    files.iter().map(move |(host, file)| Place {
        host,
        path: folder.join(file),
        owner,
    })
}
