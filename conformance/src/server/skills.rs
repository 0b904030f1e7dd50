//! Two skills: one with files beside it, one alone.

use turnbuckle::skills::{Skill, Skills};

pub(crate) fn skills() -> Skills {
    Skills::new()
        .skill(
            Skill::embedded(
                "---\nname: pdf-processing\ndescription: Reads, fills in and joins PDF files.\n---\n\n\
                 Look at references/FORMS.md before a form is filled in.\n",
            )
            .file("references/FORMS.md", "# Forms\n\nFields are filled in by name.\n")
            .file("scripts/join.py", "print(\"joined\")\n"),
        )
        .skill(Skill::embedded(
            "---\nname: code-review\ndescription: Reviews a change.\n---\n\nRead the tests first.\n",
        ))
        .directories()
}
