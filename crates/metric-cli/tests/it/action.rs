//! The GitHub Action of the repository: its script, run as a runner does.

use std::process::Command;

use crate::common::Folder;

/// The script of the action's last step.
fn script() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../action.yml");
    let action = std::fs::read_to_string(path).expect("the action");
    let (_, script) = action.rsplit_once("run: |\n").expect("a script");
    let lines = script
        .lines()
        .map(|line| line.strip_prefix("        ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
#[cfg(unix)]
fn the_summary_has_the_table_also_when_a_check_fails() {
    let folder = Folder::new(&[
        ("truth 1.txt", "a b\nc d\n"),
        ("output.txt", "A b\nc x\n"),
        ("both.csv", "id,reference,prediction\n1,a b,a c\n"),
    ]);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_metric"));
    let programs = program.parent().expect("a folder").display().to_string();
    // References, predictions, options, upper limits; the exit code and a row of the table.
    let rows = [
        (
            "truth 1.txt",
            "output.txt",
            "--normalize=lower\n",
            "wer=0.3\nmer=0.3\n",
            0,
            "0.2500",
        ),
        (
            "truth 1.txt",
            "output.txt",
            "",
            "mer=0.9\nwer=0.3",
            1,
            "0.5000",
        ),
        ("", "both.csv", "", "", 0, "0.5000"),
        ("truth 1.txt", "$(touch hacked)", "", "", 3, ""),
    ];
    for (references, predictions, options, limits, code, score) in rows {
        let summary = folder.put("summary.md", b"");
        let run = Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script()])
            .current_dir(folder.path("."))
            .env("PATH", format!("{programs}:/usr/bin:/bin"))
            .envs([
                ("METRIC", "wer"),
                ("REFERENCES", references),
                ("PREDICTIONS", predictions),
            ])
            .envs([
                ("OPTIONS", options),
                ("FAIL_OVER", limits),
                ("FAIL_UNDER", ""),
                ("REPORT", ""),
            ])
            .env("RUNNER_TEMP", folder.path("."))
            .env("GITHUB_OUTPUT", folder.path("output.env"))
            .env("GITHUB_STEP_SUMMARY", &summary)
            .output()
            .expect("bash runs");
        let errors = String::from_utf8_lossy(&run.stderr);
        let name = format!("{predictions} {options} {limits}: {errors}");
        assert_eq!(run.status.code(), Some(code), "{name}");
        let written = std::fs::read_to_string(&summary).expect("a summary");
        assert!(written.contains(score), "{name}: {written}");
    }
    assert!(!folder.names().contains(&"hacked".to_owned()));
}
