//! The files of `examples/deploy` only use options that exist.

use std::{fs, path::Path};

use crate::program::{Place, stderr};

fn read(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/deploy");
    fs::read_to_string(folder.join(name)).expect("it is there")
}

/// The items of a list of arguments in YAML.
fn yaml_options(text: &str) -> Vec<&str> {
    let items = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "));
    items.filter(|item| item.starts_with("--")).collect()
}

/// The options in the command of a systemd unit.
fn unit_options(text: &str) -> Vec<&str> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="));
    let words = line.expect("a command").split(' ');
    words.skip_while(|word| !word.starts_with("--")).collect()
}

#[test]
fn options_of_the_deployment_files_are_understood() {
    let place = Place::new();
    place.write("turnbuckle.toml", &read("turnbuckle.toml"));
    let (compose, kubernetes) = (read("compose.yaml"), read("kubernetes.yaml"));
    // systemd replaces `%i` by the name of the instance, which is the port.
    let unit = read("turnbuckle@.service").replace("%i", "7250");
    let all = [
        yaml_options(&compose),
        yaml_options(&kubernetes),
        unit_options(&unit),
    ];
    for options in all {
        assert!(options.len() > 2, "{options:?}");
        let words = [&["up", "turnbuckle.toml", "--check"], &options[..]].concat();
        let checked = place.run(&words);
        assert!(
            checked.status.success(),
            "{options:?}: {}",
            stderr(&checked)
        );
    }
}
