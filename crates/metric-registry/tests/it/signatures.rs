//! Signatures tell the options that results were computed under.

use metric_registry::{ENTRIES, OptionKind, OptionSpec, Options, find};

/// Values of an option to try. A metric refuses some of them.
fn values(spec: &OptionSpec) -> Vec<String> {
    let of_kind = |kind: &OptionKind| match kind {
        OptionKind::Choice(choices) => choices().into_iter().map(str::to_owned).collect(),
        OptionKind::Integer(..) => vec!["3".to_owned()],
        OptionKind::Number(..) => vec!["0.25".to_owned()],
        OptionKind::Text => ["casefold", "fence", "a|b:c%"].map(str::to_owned).into(),
        _ => vec![String::new()],
    };
    match spec.kind {
        OptionKind::List(item) => of_kind(item),
        kind => of_kind(&kind),
    }
}

#[test]
fn signatures_tell_the_options() {
    let mut count = 0;
    for entry in ENTRIES {
        let tried = entry.options.iter().flat_map(|spec| {
            let values = values(spec).into_iter();
            values.map(|value| Options::default().set(spec.name, value.as_str()))
        });
        for options in tried {
            let Ok(scorer) = entry.scorer(&options) else {
                continue;
            };
            let signature = scorer.signature();
            let found = entry.options_of(signature);
            let found = found.and_then(|found| entry.scorer(&found).ok());
            let found = found.as_ref().map(|scorer| scorer.signature());
            assert_eq!(found, Some(signature), "{options:?}");
            count += 1;
        }
    }
    assert!(count > 100, "{count} options were tried");
}

#[test]
fn joins_and_intervals_are_no_options() {
    let metric = find("exact-match").expect("a metric");
    let scorer = metric.scorer(&Options::default()).expect("a scorer");
    let (_, version) = scorer.signature().rsplit_once("|v:").expect("a version");
    let definition = "exact-match|ignore:case,numbers";
    let rules = "missing:empty|confidence:0.95|resamples:100|seed:0";
    let signature = format!("{definition}|{rules}|v:{version}");
    let options = metric.options_of(&signature).expect("its options");
    let names: Vec<&str> = options.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["ignore-case", "ignore-numbers"]);
    // Other versions may compare other texts.
    assert_eq!(metric.options_of(&signature.replace("|v:", "|v:9")), None);
}
