//! Skills from directories.

use std::{fs, path::PathBuf};

use turnbuckle_server::Server;
use turnbuckle_skills::{Skill, SkillClient, SkillFault, Skills};
use turnbuckle_testing::connect;

use crate::sample::{PDF, REFUNDS};

/// A temporary directory of one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("turnbuckle-skills-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, path: &str, content: &str) -> &Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn every_skill_below_a_directory_is_served() {
    let folder = Folder::new("all");
    folder
        .write("pdf-processing/SKILL.md", PDF)
        .write("pdf-processing/references/FORMS.md", "forms")
        .write("pdf-processing/.git/config", "hidden")
        .write("acme/billing/refunds/SKILL.md", REFUNDS)
        .write("README.md", "no skill");
    let skills = Skills::new().open(&folder.0).unwrap();
    let server = Server::new("s", "1").extension(skills).build().unwrap();
    let client = connect(&server).await.unwrap();
    let skills = SkillClient::of(&client).unwrap();
    let mut uris: Vec<_> = skills
        .list()
        .await
        .unwrap()
        .into_iter()
        .map(|entry| entry.uri)
        .collect();
    uris.sort();
    assert_eq!(
        uris,
        [
            "skill://acme/billing/refunds/SKILL.md",
            "skill://pdf-processing/SKILL.md"
        ]
    );
    let entry = skills.get("skill://pdf-processing/SKILL.md").await.unwrap();
    let skill = skills.load(&entry).await.unwrap();
    assert_eq!(skill.read("references/FORMS.md").await.unwrap(), b"forms");
    assert!(skill.read(".git/config").await.is_err());
    // skills: clients must not read directories of a server that does not declare it.
    assert!(!skills.lists_directories());
    assert!(skills.directory("skill://pdf-processing").await.is_err());
}

#[tokio::test]
async fn a_skill_inside_of_a_skill_is_one_of_its_own_and_a_file_of_the_other() {
    let folder = Folder::new("nested");
    folder
        .write("pdf-processing/SKILL.md", PDF)
        .write("pdf-processing/refunds/SKILL.md", REFUNDS);
    let skills = Skills::new().open(&folder.0).unwrap();
    let server = Server::new("s", "1").extension(skills).build().unwrap();
    let client = connect(&server).await.unwrap();
    let skills = SkillClient::of(&client).unwrap();
    let outer = skills.get("skill://pdf-processing/SKILL.md").await.unwrap();
    let inner = skills
        .get("skill://pdf-processing/refunds/SKILL.md")
        .await
        .unwrap();
    assert_eq!(skills.load(&inner).await.unwrap().text(), REFUNDS);
    let read = skills
        .load(&outer)
        .await
        .unwrap()
        .read("refunds/SKILL.md")
        .await;
    assert_eq!(read.unwrap(), REFUNDS.as_bytes());
}

#[test]
fn the_file_that_caused_an_error_is_named() {
    let folder = Folder::new("wrong");
    assert!(matches!(
        Skills::new().open(&folder.0),
        Err(SkillFault::NoSkills { .. })
    ));
    assert!(matches!(
        Skill::open(folder.0.join("nothing")),
        Err(SkillFault::Unreadable { .. })
    ));
    folder.write("other-name/SKILL.md", PDF);
    let misnamed = Skill::open(folder.0.join("other-name")).unwrap_err();
    assert!(
        matches!(misnamed, SkillFault::Misnamed { .. }),
        "{misnamed}"
    );
    folder.write("bad/SKILL.md", "no frontmatter");
    let bad = Skill::open(folder.0.join("bad")).unwrap_err();
    assert!(
        bad.to_string().contains("must begin with a line `---`"),
        "{bad}"
    );
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let folder = Folder::new("links");
    folder.write("refunds/SKILL.md", REFUNDS);
    std::os::unix::fs::symlink("/etc/passwd", folder.0.join("refunds/passwd")).unwrap();
    let error = Skill::open(folder.0.join("refunds")).unwrap_err();
    assert!(matches!(error, SkillFault::NotPlain { .. }), "{error}");
}

#[test]
fn mistakes_in_embedded_skills_are_found_at_start_up() {
    let problem = |skill: Skill| {
        let built = Server::new("s", "1")
            .extension(Skills::new().skill(skill))
            .build();
        built.err().expect("the skill is wrong").to_string()
    };
    assert!(problem(Skill::embedded("x")).contains("must begin with a line `---`"));
    assert!(problem(Skill::embedded(PDF).file("../x", "")).contains("not a path below"));
    assert!(problem(Skill::embedded(PDF).file("a", "").file("a", "")).contains("two files"));
    let twice = Skills::new()
        .skill(Skill::embedded(PDF))
        .skill(Skill::embedded(PDF));
    let built = Server::new("s", "1").extension(twice).build();
    assert!(built.err().unwrap().to_string().contains("two skills"));
    let large = "x".repeat(17 * 1024 * 1024);
    assert!(problem(Skill::embedded(PDF).file("large", large)).contains("split it"));
}
