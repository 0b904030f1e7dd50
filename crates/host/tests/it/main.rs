//! Tests with config files as people write them, and with hosts that run real servers.

mod asks;
mod catalog;
mod consent;
mod consent_table;
mod context;
mod entries;
mod files;
mod isolation;
mod lists_again;
mod names;
mod on_demand;
mod person;
mod program;
mod reload;
mod reports;
mod supervision;

use std::{collections::HashMap, path::Path};

use turnbuckle_host::config::{Entry, EntryError, File, Input, Launch, Remote, Variables, Wire};

/// The variables of a test.
#[derive(Default)]
struct Given {
    environment: HashMap<&'static str, &'static str>,
    inputs: HashMap<&'static str, &'static str>,
}

impl Variables for Given {
    fn environment(&self, name: &str) -> Option<String> {
        self.environment.get(name).map(|value| (*value).to_owned())
    }

    fn input(&self, input: &Input) -> Option<String> {
        self.inputs.get(&*input.id).map(|value| (*value).to_owned())
    }
}

fn given() -> Given {
    Given {
        environment: [("TOKEN", "s3cret"), ("EMPTY", "")].into(),
        inputs: [("key", "k-1")].into(),
    }
}

fn entries(name: &str, text: &str) -> Vec<Entry> {
    File::parse(Path::new(name), text)
        .expect("the file is right")
        .entries
}

/// Reads the only entry of a JSON file with these settings.
fn launch(settings: &str) -> Result<Launch, EntryError> {
    let text = format!(r#"{{"mcpServers": {{"it": {settings}}}}}"#);
    entries("mcp.json", &text)[0].launch(&given())
}

fn command(line: &[&str]) -> Launch {
    Launch::Command {
        program: line[0].to_owned(),
        arguments: line[1..].iter().map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
        folder: None,
    }
}

fn remote(url: &str, wire: Wire) -> Launch {
    Launch::Remote(Remote {
        url: url.to_owned(),
        headers: Vec::new(),
        wire,
    })
}
