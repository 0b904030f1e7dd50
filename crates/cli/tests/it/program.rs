//! Runs the binary as people do: in a separate folder, with a config file that names the demo server.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_turnbuckle");

/// The user's own config file with servers.
pub(crate) const LAB: &str = "home/.config/turnbuckle/servers.json";

/// How long any step may take: far more than it needs, even on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// A folder that is home, project and cache folder at once, and is removed after the test.
pub(crate) struct Place(PathBuf);

impl Place {
    /// Creates an empty place.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("turnbuckle-cli-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(path.join("home")).expect("a folder can be made");
        Self(path.canonicalize().expect("it is there"))
    }

    /// Creates a place in which `lab` is the demo server, as a program.
    pub(crate) fn with_lab() -> Self {
        let place = Self::new();
        place.name_lab(&format!(
            r#"{{"command":"{BINARY}","args":["serve","--stdio"]}}"#
        ));
        place
    }

    pub(crate) fn name_lab(&self, entry: &str) {
        let config = format!(r#"{{"mcpServers":{{"lab":{entry}}}}}"#);
        let folder = self.0.join("home/.config/turnbuckle");
        std::fs::create_dir_all(folder).expect("a folder can be made");
        self.write(LAB, &config);
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self, name: &str) -> String {
        let path = self.0.join(name);
        path.to_str().expect("the path is text").to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("it can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("it can be read")
    }

    /// A command that runs here, and finds the binary by its name.
    pub(crate) fn command(&self, program: &str) -> Command {
        let folder = Path::new(BINARY).parent().expect("it is in a folder");
        let old = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command
            .current_dir(&self.0)
            .env("PATH", format!("{}:{old}", folder.display()))
            .env("HOME", self.0.join("home"))
            .env("XDG_CACHE_HOME", self.0.join("cache"))
            .env("XDG_DATA_HOME", self.0.join("data"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_RUNTIME_DIR")
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary with these arguments.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        let mut command = self.command(BINARY);
        command.args(words).output().expect("the binary runs")
    }

    /// Runs a line in a shell, unchanged.
    pub(crate) fn shell(&self, line: &str) -> Output {
        let mut command = self.command("bash");
        let line = format!("set -o pipefail; {line}");
        command.args(["-c", &line]).output().expect("bash runs")
    }

    /// A shell with a real keyring, which ends with the session bus that it is started on.
    #[cfg(target_os = "linux")]
    pub(crate) fn with_keyring(&self, line: &str) -> Command {
        needs("dbus-run-session");
        needs("gnome-keyring-daemon");
        // The daemon reports that it runs before it is on the bus. If a program used the keyring in
        // between, the bus would start a second daemon, which is locked.
        let line = format!(
            "printf 'sesame\\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
             for _ in {{1..600}}; do
               dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
                 org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets 2>/dev/null |
                 grep -q true && break
               sleep 0.05
             done
             {line}"
        );
        let mut command = self.command("dbus-run-session");
        command
            .args(["--", "bash", "-c", &line])
            .env("XDG_RUNTIME_DIR", &self.0);
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The demo server at a URL; dropping this ends it.
pub(crate) struct HttpDemo {
    child: Child,
    pub(crate) url: String,
}

impl HttpDemo {
    /// Starts it at a free port.
    pub(crate) fn start() -> Self {
        Self::start_at("127.0.0.1:0")
    }

    /// Kills it, and starts it again at the same address.
    pub(crate) fn start_again(self) -> Self {
        let address = self.address().to_owned();
        drop(self);
        Self::start_at(&address)
    }

    /// The id of its process.
    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn address(&self) -> &str {
        let address = self.url.trim_start_matches("http://");
        address.trim_end_matches("/mcp")
    }

    pub(crate) fn start_at(address: &str) -> Self {
        let mut child = Command::new(BINARY)
            .args(["serve", "--listen", address])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the demo server starts");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let found = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let start = line.find("http://")?;
            let url = line[start..].split_whitespace().next()?;
            url.ends_with("/mcp").then(|| url.to_owned())
        });
        // The rest of the output must be read, or the program would block.
        std::thread::spawn(move || lines.for_each(drop));
        let url = found.expect("the demo server says where it is");
        Self { child, url }
    }
}

impl Drop for HttpDemo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `look` returns a value.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(start.elapsed() < TIMEOUT, "it never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Fails a test if a program of another project that it needs is missing.
#[track_caller]
pub(crate) fn needs(program: &str) {
    let is_there = Command::new(program)
        .arg(if program == "tmux" { "-V" } else { "--version" })
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    assert!(
        is_there,
        "`{program}` is not installed, and this test needs it: `./scripts/test shells` and `./scripts/test keyring` install it"
    );
}
