//! Config files in JSON, TOML and YAML: parsing one ends with its servers or with an error that has
//! a text, and a mistake in one entry does not affect the others.

use std::path::Path;

use turnbuckle_host::config::{File, Input, Variables};

use super::Target;

pub const TARGET: Target = Target {
    name: "config",
    run,
    seeds: &[
        br#"j{"mcpServers":{"a":{"command":"x","args":["${HOME}","-y"],"env":{"K":"${input:key}"}},"b":{"url":"https://a/b","headers":{"A":"b"}}}}"#,
        b"j// c\n{\"servers\":{\"a\":{\"type\":\"http\",\"url\":\"http://x\",\"disabled\":true,},},\"inputs\":[{\"id\":\"key\",\"type\":\"promptString\",\"password\":true}]}",
        b"t[mcp_servers.a]\ncommand = \"x\"\nargs = ['y']\n[servers.b]\nurl = \"http://x\"\n",
        b"yextensions:\n  a:\n    cmd: x\n    args: [y]\nmcpServers:\n  - name: b\n    command: z\n",
    ],
    words: &["\"command\":", "\"url\":", "\"mcpServers\":{", "${", "${env:", "${input:", "\"env\":{", "\"type\":\"sse\"", "\n", "  ", "- ", "&a", "*a", "'''"],
    is_planted: false,
};

/// Gives every variable a value that has a special meaning if it is parsed again.
struct All;

impl Variables for All {
    fn environment(&self, name: &str) -> Option<String> {
        (name.len() % 2 == 0).then(|| "${HOME}".to_owned())
    }

    fn input(&self, _: &Input) -> Option<String> {
        Some("\u{0}$".to_owned())
    }
}

fn run(input: &[u8]) {
    let Some((format, text)) = input.split_first() else {
        return;
    };
    let Ok(text) = str::from_utf8(text) else {
        return;
    };
    let path = match format {
        b't' => "f.toml",
        b'y' => "f.yaml",
        _ => "f.json",
    };
    match File::parse(Path::new(path), text) {
        Ok(file) => {
            for entry in &file.entries {
                let _ = entry.read_settings();
                if let Err(error) = entry.launch(&All) {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
