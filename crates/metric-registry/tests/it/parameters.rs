//! A parameter that a metric gets must be in its signature, since it can change scores.

use metric_graph::LaneCorrespondence;
use metric_text::EditRate;

/// The names of the fields of a struct, from how it prints itself.
fn fields(value: &impl std::fmt::Debug) -> Vec<String> {
    let shown = format!("{value:#?}");
    let fields = shown.lines().filter_map(|line| line.strip_prefix("    "));
    let names = fields.filter_map(|line| line.split_once(':'));
    let names = names.map(|(name, _)| name.to_owned());
    names.filter(|name| !name.starts_with(' ')).collect()
}

#[test]
fn each_parameter_is_in_the_signature_or_changes_no_score() {
    // A new field belongs to the signature first, and then to this list.
    let confusions_are_details = "confusions";
    assert_eq!(
        fields(&EditRate::default()),
        [
            "unit",
            "profile",
            "normalizer",
            "case_sensitive",
            confusions_are_details
        ]
    );
    assert_eq!(
        fields(&LaneCorrespondence::default()),
        [
            "profile",
            "alignment",
            "lane_ids",
            "duplicates",
            "overall",
            "ignore",
            "equality"
        ]
    );
}
