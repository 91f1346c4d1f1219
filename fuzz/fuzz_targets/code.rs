//! CodeBLEU of arbitrary texts, and the laws that its counts, scores and trees keep.
//!
//! An input is three bytes, each counted starting at `a`, and a text. The bytes choose the language
//! (in the order of `Language::ALL`), the profile (`CodeBleuProfile::ALL`), and where the text is split:
//! the half is the sixteenths that the prediction takes, and an odd byte makes two references of
//! the rest.

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_code::{
    CodeBleu, CodeBleuProfile, CodeBleuScore, CodeBleuState, CommentRule, Language, Prediction,
    References, SyntaxTree, dataflow_match, syntax_match,
};
use metric_core::Metric;
use tree_sitter::{Node, Parser};
use tree_sitter_language::LanguageFn;

/// The grammars by the names of their languages.
const GRAMMARS: &[(&str, LanguageFn)] = &[
    ("c", tree_sitter_c::LANGUAGE),
    ("c_sharp", tree_sitter_c_sharp::LANGUAGE),
    ("cpp", tree_sitter_cpp::LANGUAGE),
    ("go", tree_sitter_go::LANGUAGE),
    ("java", tree_sitter_java::LANGUAGE),
    ("javascript", tree_sitter_javascript::LANGUAGE),
    ("php", tree_sitter_php::LANGUAGE_PHP),
    ("python", tree_sitter_python::LANGUAGE),
    ("ruby", tree_sitter_ruby::LANGUAGE),
    ("rust", tree_sitter_rust::LANGUAGE),
    ("typescript", tree_sitter_typescript::LANGUAGE_TYPESCRIPT),
];

/// Largest tree whose subtrees are written out one by one, which takes quadratic time.
const MAX_WRITTEN_NODES: usize = 600;

fuzz_target!(|data: &[u8]| {
    let [language, profile, split, text @ ..] = data else {
        return;
    };
    let language = choose(Language::ALL, *language);
    let profile = choose(CodeBleuProfile::ALL, *profile);
    let split = usize::from(split.wrapping_sub(b'a'));
    let text = String::from_utf8_lossy(text);
    let cut = text.floor_char_boundary(text.len() * (split / 2 % 17) / 16);
    let (prediction, rest) = text.split_at(cut);
    let references = match split % 2 {
        0 => vec![rest],
        _ => {
            let (one, two) = rest.split_at(rest.floor_char_boundary(rest.len() / 2));
            vec![one, two]
        }
    };

    let state = score(profile, language, prediction, &references);
    for text in [prediction].iter().chain(&references) {
        comments(language, text);
    }
    itself(language, prediction);
    tree(language, prediction);
    pair(profile, language, prediction, references[0]);
    // Nothing is left over in memory from the texts in between.
    assert_eq!(score(profile, language, prediction, &references), state);
});

fn choose<T: Copy>(all: &[T], byte: u8) -> T {
    all[usize::from(byte.wrapping_sub(b'a')) % all.len()]
}

/// Counts are fractions and scores between 0 and 1.
fn score(
    profile: CodeBleuProfile,
    language: Language,
    prediction: &str,
    references: &[&str],
) -> CodeBleuState {
    let metric = CodeBleu::new(profile);
    let prediction = Prediction::new(prediction).unwrap();
    let references = References::new(language, references.iter().copied()).unwrap();
    let mut state = CodeBleuState::default();
    metric.update(&mut state, &prediction, &references);
    let counts = [state.syntax, state.dataflow]
        .into_iter()
        .chain(state.ngram.orders)
        .chain(state.weighted.orders);
    for [found, all] in counts {
        assert!(found <= all, "{found} of {all}: {state:?}");
    }
    assert_eq!(state.examples.total, 1);
    let CodeBleuScore {
        codebleu,
        ngram_match,
        weighted_ngram_match,
        syntax_match,
        dataflow_match,
        ..
    } = metric.compute(&state);
    let scores = [
        codebleu,
        ngram_match,
        weighted_ngram_match,
        syntax_match,
        dataflow_match,
    ];
    for score in scores.into_iter().flatten() {
        assert!((0.0..=1.0).contains(&score), "{score}: {state:?}");
    }
    state
}

/// A text has its own subtrees and dataflow, whatever the profile.
fn itself(language: Language, text: &str) {
    for &profile in CodeBleuProfile::ALL {
        let state = score(profile, language, text, &[text]);
        assert_eq!(state.syntax[0], state.syntax[1], "{profile}");
        assert_eq!(state.dataflow[0], state.dataflow[1], "{profile}");
        assert!(state.syntax[1] > 0, "{profile}");
    }
}

/// Removing comments does not fail; the C-style rule leaves nothing for a second time.
fn comments(language: Language, text: &str) {
    let _ = language.comment_rule().strip(text);
    let _ = CommentRule::Python.strip(text);
    let once = CommentRule::CStyle.strip(text).unwrap();
    assert_eq!(CommentRule::CStyle.strip(&once).as_ref(), Some(&once));
}

/// A tree is tree-sitter's, and its dataflow has as many edges as are counted.
fn tree(language: Language, text: &str) {
    let tree = SyntaxTree::parse(language, text).unwrap();
    let sexp = tree.sexp();
    let parsed = parse(language, text);
    if !tree.is_too_deep() {
        assert_eq!(sexp, parsed.root_node().to_sexp());
    }
    assert_eq!(tree.has_error(), parsed.root_node().has_error());
    // These two neither trim nor remove comments.
    for profile in [CodeBleuProfile::FusionBrain2021, CodeBleuProfile::Corrected] {
        let edges = tree.dataflow(profile).len() as u64;
        let counted = dataflow_match(profile, language, text, text).unwrap();
        assert_eq!(counted, [edges; 2], "{profile}");
    }
    for profile in [
        CodeBleuProfile::CodeXGlue,
        CodeBleuProfile::CodeBleu07,
        CodeBleuProfile::Paper,
    ] {
        let _ = tree.dataflow(profile);
    }
}

/// The counts of two texts by functions are those of the metric, and subtrees match where
/// tree-sitter writes them equally.
fn pair(profile: CodeBleuProfile, language: Language, prediction: &str, reference: &str) {
    let state = score(profile, language, prediction, &[reference]);
    let syntax = syntax_match(profile, language, prediction, reference).unwrap();
    let dataflow = dataflow_match(profile, language, prediction, reference).unwrap();
    assert_eq!((syntax, dataflow), (state.syntax, state.dataflow));

    let parsed = [prediction, reference].map(|text| parse(language, text));
    let too_deep = [prediction, reference]
        .map(|text| SyntaxTree::parse(language, text).unwrap().is_too_deep());
    let nodes = parsed
        .each_ref()
        .map(|tree| tree.root_node().descendant_count());
    if too_deep != [false; 2] || nodes.iter().any(|&nodes| nodes > MAX_WRITTEN_NODES) {
        return;
    }
    let [in_prediction, in_reference] = parsed.each_ref().map(|tree| subtrees(tree.root_node()));
    let found = in_reference
        .iter()
        .filter(|text| in_prediction.contains(text));
    let expected = [found.count() as u64, in_reference.len() as u64];
    // The profile that takes texts as they are.
    let counted = syntax_match(
        CodeBleuProfile::FusionBrain2021,
        language,
        prediction,
        reference,
    );
    assert_eq!(counted, Ok(expected));
}

/// The subtrees as tree-sitter writes them.
fn subtrees(root: Node<'_>) -> Vec<String> {
    let mut written = Vec::new();
    let mut left = vec![root];
    while let Some(node) = left.pop() {
        if node.child_count() > 0 || node == root {
            written.push(node.to_sexp());
        }
        left.extend(node.children(&mut node.walk()));
    }
    written
}

/// The text as tree-sitter parses it.
fn parse(language: Language, text: &str) -> tree_sitter::Tree {
    let grammar = GRAMMARS.iter().find(|(name, _)| *name == language.name());
    let mut parser = Parser::new();
    parser.set_language(&grammar.unwrap().1.into()).unwrap();
    parser.parse(text, None).unwrap()
}
