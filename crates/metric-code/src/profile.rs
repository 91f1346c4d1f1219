use crate::Language;
use crate::classes::Dialect;
use crate::ngram::Weighting;

/// The definition of CodeBLEU to use.
///
/// N, W, S and D are the n-gram, weighted n-gram, syntax and dataflow match.
///
/// | | trim | comments removed | keywords | W | S | D | 0/0 |
/// |---|---|---|---|---|---|---|---|
/// | `codexglue` | yes | C-style rule, in every language | original | recall | unclipped | original rules | 0 |
/// | `codebleu-0.7` | yes | by language | codebleu 0.7.0 | recall | unclipped | original rules; 0 counts as 1 | 0 |
/// | `fusion-brain-2021` | no | no | original | recall | unclipped | original rules | 0 |
/// | `paper` | yes | C-style rule | original | precision | clipped | original rules | undefined |
/// | `corrected` | no | skipped in the tree | original | precision | clipped, with operators | rules that fit the grammars | left out |
///
/// S and D of `codexglue` and `fusion-brain-2021` are not those of the original programs, whose grammars are
/// from 2020: the rules are the same, the trees come from current grammars. On the sample of the challenge's
/// task, the score is 0.3018 here and 0.0859 in its own program, whose parser found no dataflow. N and W are
/// those of the programs.
///
/// In `paper` and `corrected`, a text of fewer than four words adds no n-grams that it does not have, and N and W are
/// made of the orders that have n-grams in the corpus: copies score 1, however short. The other profiles count at least
/// one n-gram of each order per text, as their programs do.
///
/// S and D are recalls in every profile, and W is one in all except `paper` and `corrected`: they ask what part of the
/// reference is in the prediction, not how much else is there. Text that is pasted next to a solution costs them
/// little, and text that has nothing to do with the task gains much. The table has the scores of the 120 distinct Java
/// references of `tests/golden/code/java_pkg.jsonl`. Each prediction is the reference followed by the next 10
/// references of the file, or these 10 without the reference.
///
/// | profile | prediction | N | W | S | D | CodeBLEU |
/// |---|---|---|---|---|---|---|
/// | `codexglue`, `codebleu-0.7`, `fusion-brain-2021` | reference and 10 others | 0.087 | 1.000 | 0.964 | 0.894 | 0.736 |
/// | the same | 10 others | 0.009 | 0.100 | 0.432 | 0.611 | 0.288 |
/// | `paper` | reference and 10 others | 0.087 | 0.087 | 0.964 | 0.894 | 0.508 |
/// | `paper` | 10 others | 0.009 | 0.010 | 0.401 | 0.611 | 0.258 |
/// | `corrected` | reference and 10 others | 0.087 | 0.087 | 0.964 | 0.894 | 0.508 |
/// | `corrected` | 10 others | 0.009 | 0.010 | 0.388 | 0.611 | 0.254 |
///
/// The original keywords of Java and C# are those of codebleu 0.7.0; Python's lack `match`, `case`
/// and `type`; other languages have none and take those of codebleu 0.7.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CodeBleuProfile {
    /// The original evaluator: microsoft/CodeXGLUE, `Code-Code/code-to-code-trans/evaluator/CodeBLEU`,
    /// with current grammars, so that S and D can differ from its own.
    ///
    /// Known defects, all kept:
    /// - W is a recall in which keywords weigh only as single words, and its brevity penalty
    ///   compares with a length of 2, so it is not there in practice.
    /// - S counts a subtree of the reference as matched if it occurs at all, however often; it does
    ///   not see operators, names and literals.
    /// - C-style comments are cut from every language: Python's `#` stays, its `//` cuts the line.
    /// - Many dataflow rules name nodes that today's grammars do not have; a node that lacks an
    ///   expected part empties the dataflow of its whole text, as does a tree deeper than 990; and
    ///   after a non-ASCII character the rest of the line is cut into tokens at wrong places.
    /// - A corpus whose references have no dataflow is scored 0 there: identical programs get 0.75.
    /// - With several references W, S and D are pooled over all of them, so that a further reference
    ///   can lower the score.
    ///
    /// Where the original evaluator depends on Python's hash seed (the numbering of variables), the
    /// order of first occurrence is taken.
    #[default]
    CodeXGlue,
    /// The Python package codebleu 0.7.0 (k4black/codebleu) with grammars of 2025.
    ///
    /// The same, with comments and keywords by language, and one more defect: where D is 0, be it
    /// undefined or an actual zero, the total counts it as 1. An empty prediction scores 0.25.
    CodeBleu07,
    /// As the paper defines it: Ren et al. 2020, arXiv 2009.10297, section 3.
    ///
    /// W is a precision over the prediction with a brevity penalty, in which keywords weigh five times the others (its
    /// equation 2); S and D are clipped counts. What the paper leaves open (dataflow rules, smoothing, how subtrees are
    /// compared) is as in [`CodeXGlue`](Self::CodeXGlue). S or D over nothing is undefined, and then so is the total,
    /// unless the weight of the component is 0. N and W without a match are 0.
    Paper,
    /// CodeBLEU without the defects of the other profiles.
    ///
    /// Subtrees are clipped, and operators count. Comments are skipped in the tree instead of being cut from the text.
    /// The dataflow rules fit the grammars. A compound assignment also uses the old value. A node that lacks a part
    /// only loses its own rule. Tokens are cut at the correct positions. With several references, each example uses the
    /// one with the highest score for S and D. Components without anything to count are left out and the weights spread
    /// over the others.
    ///
    /// Known limits:
    /// - Names are compared by their position in the dataflow and not by scope; an assignment to `a[i]`
    ///   also redefines `i`. A text deeper than 990 nodes has no dataflow.
    /// - An `else` continues from the end of the branch before it in C, C++, JavaScript, TypeScript
    ///   and Rust, as do `match`, Ruby's `case` and PHP's `elseif`.
    /// - `for` loops run twice only after a declaration (Java) or `var` (JavaScript), with a clause (Go), or over a
    ///   collection, except with Go's `range` and PHP's `$key => $value`. `do` loops run once.
    /// - In Python and Ruby the sides of an assignment are paired part by part wherever they have as
    ///   many: `a.b = x + y` takes a from x and b from y. The `else` of a Python loop hides its body.
    ///   In C#, `x!` counts as `x++` does.
    Corrected,
    /// The program of the Fusion Brain Challenge 2021 (AIJ 2021), task C2C.
    ///
    /// As the original evaluator, for Python: texts are neither trimmed nor freed of comments. S and D come
    /// from current grammars and can differ from the program's own. Its data spells layout as words (`NEW_LINE`, `INDENT`, `DEDENT`), which it parses as such, so
    /// most of a tree is syntax errors.
    FusionBrain2021,
}

impl CodeBleuProfile {
    /// All profiles, the default first.
    pub const ALL: &[Self] = &[
        Self::CodeXGlue,
        Self::CodeBleu07,
        Self::FusionBrain2021,
        Self::Paper,
        Self::Corrected,
    ];

    /// Returns the name, as in signatures and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CodeXGlue => "codexglue",
            Self::CodeBleu07 => "codebleu-0.7",
            Self::Paper => "paper",
            Self::Corrected => "corrected",
            Self::FusionBrain2021 => "fusion-brain-2021",
        }
    }

    /// Returns whether the program of the profile parses with older grammars than ours, so that its syntax and dataflow
    /// match can differ.
    #[must_use]
    pub const fn had_other_grammars(self) -> bool {
        match self {
            Self::CodeXGlue | Self::FusionBrain2021 => true,
            Self::CodeBleu07 | Self::Paper | Self::Corrected => false,
        }
    }

    /// Returns in words what becomes of the scores if no reference has a dataflow.
    ///
    /// ```
    /// use metric_code::CodeBleuProfile;
    ///
    /// assert_eq!(CodeBleuProfile::CodeXGlue.without_dataflow(), "codebleu counts it as 0");
    /// ```
    #[must_use]
    pub const fn without_dataflow(self) -> &'static str {
        match (
            self.definition().zero_over_zero,
            self.definition().no_dataflow_is_one,
        ) {
            (_, true) => "codebleu counts it as 1, as codebleu 0.7.0 does",
            (ZeroOverZero::Zero, false) => "codebleu counts it as 0",
            (ZeroOverZero::Undefined, false) => "dataflow_match and codebleu are undefined",
            (ZeroOverZero::LeftOut, false) => "codebleu is made of the other components",
        }
    }

    /// Returns in words how texts of a language are scored that the profile's program does not know, to follow the
    /// name of the language; `None` if it knows the language.
    ///
    /// ```
    /// use metric_code::{CodeBleuProfile, Language};
    ///
    /// assert_eq!(CodeBleuProfile::CodeXGlue.of_unknown_language(Language::JAVA), None);
    /// ```
    #[must_use]
    pub fn of_unknown_language(self, language: Language) -> Option<&'static str> {
        match self {
            Self::CodeBleu07 => (!language.is_in_codebleu()).then_some(
                "which codebleu 0.7.0 does not know: scored as JavaScript with other keywords",
            ),
            Self::CodeXGlue | Self::Paper | Self::FusionBrain2021 => (!language.is_original())
                .then_some(
                    "for which the original evaluator has no keywords: those of codebleu 0.7.0 are used",
                ),
            Self::Corrected => None,
        }
    }

    /// Returns whether N and W are made of those orders only that have n-grams in the corpus; else an order of a text
    /// that is too short for it counts as one n-gram.
    #[must_use]
    pub const fn leaves_out_orders(self) -> bool {
        matches!(self.definition().weighting, Weighting::Precision)
    }

    pub(crate) const fn definition(self) -> Definition {
        let codexglue = Definition {
            reading: Reading {
                trim: true,
                comments: Comments::CStyle,
                dialect: Dialect::Original,
            },
            original_keywords: true,
            weighting: Weighting::Recall,
            clipped: false,
            zero_over_zero: ZeroOverZero::Zero,
            no_dataflow_is_one: false,
            best_reference: false,
        };
        match self {
            Self::CodeXGlue => codexglue,
            Self::CodeBleu07 => Definition {
                reading: Reading {
                    comments: Comments::OfLanguage,
                    ..codexglue.reading
                },
                original_keywords: false,
                no_dataflow_is_one: true,
                ..codexglue
            },
            Self::FusionBrain2021 => Definition {
                reading: Reading {
                    trim: false,
                    comments: Comments::Kept,
                    ..codexglue.reading
                },
                ..codexglue
            },
            Self::Paper => Definition {
                weighting: Weighting::Precision,
                clipped: true,
                zero_over_zero: ZeroOverZero::Undefined,
                ..codexglue
            },
            Self::Corrected => Definition {
                reading: Reading {
                    trim: false,
                    comments: Comments::Kept,
                    dialect: Dialect::Corrected,
                },
                weighting: Weighting::Precision,
                clipped: true,
                zero_over_zero: ZeroOverZero::LeftOut,
                best_reference: true,
                ..codexglue
            },
        }
    }
}

metric_core::named_choice!(CodeBleuProfile, "profile");

/// The conventions that a profile's name stands for.
#[derive(Clone, Copy)]
pub(crate) struct Definition {
    pub(crate) reading: Reading,
    /// The original evaluator's keywords, else those of codebleu 0.7.0.
    pub(crate) original_keywords: bool,
    pub(crate) weighting: Weighting,
    /// Whether a subtree of the prediction matches once at most.
    pub(crate) clipped: bool,
    pub(crate) zero_over_zero: ZeroOverZero,
    /// Whether the total takes a dataflow match of 0 for 1.
    pub(crate) no_dataflow_is_one: bool,
    /// Whether S and D are those of the reference with the highest score, else of all.
    pub(crate) best_reference: bool,
}

/// The way in which a text becomes subtrees and edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) trim: bool,
    pub(crate) comments: Comments,
    pub(crate) dialect: Dialect,
}

/// The comments that are cut from a text before it is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comments {
    /// C-style ones, whatever the language.
    CStyle,
    /// By the rule of the language.
    OfLanguage,
    /// None.
    Kept,
}

/// The value of a component that has nothing to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZeroOverZero {
    /// It is 0.
    Zero,
    /// It is undefined, and so is the total.
    Undefined,
    /// It is undefined, and the total is made of the others.
    LeftOut,
}
