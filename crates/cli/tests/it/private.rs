//! Files that other users of the machine cannot read, and keys that they cannot see.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use crate::program::{BINARY, Place, eventually, stderr, stdout};

fn mode(path: &Path) -> u32 {
    fs::metadata(path)
        .expect("it is there")
        .permissions()
        .mode()
        & 0o777
}

#[test]
fn pictures_are_saved_where_only_the_user_can_read() {
    let place = Place::with_lab();
    fs::create_dir(place.path().join("tmp")).expect("a folder can be made");
    let mut command = place.command(BINARY);
    let command = command.args(["call", "lab", "picture"]);
    let output = command.env("TMPDIR", place.file("tmp")).output();
    let said = stdout(&output.expect("the binary runs"));
    let path = said
        .split(": ")
        .nth(1)
        .and_then(|rest| rest.split(']').next());
    let path = PathBuf::from(path.expect("it says where"));
    let folder = path.parent().expect("it is in a folder");
    assert_eq!((mode(folder), mode(&path)), (0o700, 0o600), "{said}");
    let name = folder.file_name().and_then(|name| name.to_str());
    let random = name.and_then(|name| name.strip_prefix("turnbuckle-"));
    assert_eq!(random.expect("it has a name").len(), 16, "{said}");
    // The same in a folder that the user names.
    let output = place.run(&["call", "lab", "picture", "--save", "pictures"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let folder = place.path().join("pictures");
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("image-1.png")), 0o600);
}

#[test]
fn recordings_are_the_users_alone() {
    let place = Place::with_lab();
    // A file that others could read is made private.
    place.write("calls.ndjson", "old");
    let path = place.path().join("calls.ndjson");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let output = place.run(&["list", "lab", "--record", "calls.ndjson"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(mode(&path), 0o600);
    let output = place.shell("turnbuckle record session.ndjson lab < /dev/null");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(mode(&place.path().join("session.ndjson")), 0o600);
}

/// Every user can read the arguments of every process.
#[test]
fn the_key_of_the_inspector_is_in_no_argument() {
    let place = Place::with_lab();
    let script = "#!/bin/sh\nprintf '%s' \"$*\" > told.draft\nmv told.draft told\n";
    place.write("browser", script);
    let browser = place.path().join("browser");
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let mut command = place.command(BINARY);
    let inspector = command
        .args(["inspect", "--port", "0", "lab"])
        .env("BROWSER", &browser)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let told = eventually("the browser is told", || {
        fs::read_to_string(place.path().join("told")).ok()
    });
    let seen = told.strip_prefix("file://").map(PathBuf::from);
    let page = seen.as_deref().map(fs::read_to_string);
    let modes = seen.as_deref().map(|path| {
        let folder = path.parent().expect("it is in a folder");
        (mode(folder), mode(path))
    });
    // When it is asked to end, it removes the file.
    let ended = std::process::Command::new("kill")
        .args(["-TERM", &inspector.id().to_string()])
        .status();
    let output = inspector.wait_with_output().expect("it ends");
    assert!(ended.is_ok_and(|status| status.success()));
    let url = stdout(&output);
    let (_, token) = url.trim().split_once("#token=").expect("it prints its URL");
    assert!(!told.contains(token), "{told}");
    let page = page
        .expect("the browser is given a file")
        .expect("it can be read");
    assert!(page.contains(url.trim()), "{page}");
    assert_eq!(modes, Some((0o700, 0o600)));
    assert!(!seen.expect("it was there").exists());
}
