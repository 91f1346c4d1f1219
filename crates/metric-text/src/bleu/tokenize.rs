use std::borrow::Cow;

use metric_core::named_choice;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::translation::{Class, is_space, split, unescape, western};

/// The rules by which [`Bleu`](super::Bleu) splits texts into tokens, as in sacreBLEU 2.6.0.
///
/// Tokenizers that need a model or a dictionary (`flores200`, `ja-mecab`) are not among them. Texts that were segmented
/// by another program are scored with [`None`](Self::None).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tokenizer {
    /// `13a`: the rules of `mteval-v13a`, for Western languages.
    ///
    /// Entities of XML are replaced. ASCII punctuation is separated, except for `'`, and for `.`, `,` and `-` in some
    /// positions.
    #[default]
    V13a,
    /// `intl`: the international rules of `mteval-v14`.
    ///
    /// Punctuation of all scripts is separated, except between numbers, and each symbol. The result depends on the
    /// [version of Unicode](unicode_version).
    International,
    /// `zh`: each Chinese character is a token, and the rest is split as with `13a`, without its entities.
    ///
    /// Known defect: `…`, curly quotes, arrows and mathematical symbols count as Chinese characters, and ideographs
    /// above U+FFFF do not (<https://github.com/mjpost/sacrebleu/issues/298>).
    Chinese,
    /// `char`: each character that is not white space is a token.
    Characters,
    /// `none`: tokens are separated by white space.
    None,
}

impl Tokenizer {
    /// All tokenizers.
    pub const ALL: &[Self] = &[
        Self::V13a,
        Self::International,
        Self::Chinese,
        Self::Characters,
        Self::None,
    ];

    /// Returns the name of the tokenizer, as in sacreBLEU.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V13a => "13a",
            Self::International => "intl",
            Self::Chinese => "zh",
            Self::Characters => "char",
            Self::None => "none",
        }
    }

    /// Returns the tokens of a text.
    ///
    /// ```
    /// use metric_text::bleu::Tokenizer;
    ///
    /// assert_eq!(Tokenizer::V13a.tokens("It's 1,000 &lt;b&gt;."), ["It's", "1,000", "<", "b", ">", "."]);
    /// assert_eq!(Tokenizer::Chinese.tokens("你好, Bob!"), ["你", "好", ",", "Bob", "!"]);
    /// assert_eq!(Tokenizer::International.tokens("«a» 1–2 €5"), ["«", "a", "»", "1–2", "€", "5"]);
    /// ```
    #[must_use]
    pub fn tokens(self, text: &str) -> Vec<String> {
        let text = self.prepare(text.into());
        let mut tokens = Vec::new();
        self.split(&text, &mut |token| tokens.push(token.to_owned()));
        tokens
    }

    /// Changes a text before it is split.
    pub(super) fn prepare(self, text: Cow<'_, str>) -> Cow<'_, str> {
        match self {
            Self::V13a => unescape(text, &["<skipped>", "-\n"]),
            Self::International | Self::Chinese | Self::Characters | Self::None => text,
        }
    }

    /// Splits a text that was [prepared](Self::prepare).
    pub(super) fn split<'t>(self, text: &'t str, each: &mut impl FnMut(&'t str)) {
        match self {
            Self::V13a => split(text, true, western, each),
            Self::International => split(text, false, international, each),
            Self::Chinese => split(text.trim_matches(is_space), false, chinese, each),
            Self::Characters => split(text, false, character, each),
            Self::None => split(text, false, any, each),
        }
    }
}

named_choice!(Tokenizer, "tokenizer");

/// The version of Unicode on which the tokens of [`Tokenizer::International`] depend.
#[must_use]
pub fn unicode_version() -> (u64, u64, u64) {
    unicode_properties::UNICODE_VERSION
}

/// Splits the comments of CodeXGLUE's code summarization: into words of letters and numbers, and single characters.
pub(super) fn split_summary<'t>(text: &'t str, each: &mut impl FnMut(&'t str)) {
    let class = |c: char| match any(c) {
        Class::Space => Class::Space,
        _ if c.is_ascii_alphanumeric() => Class::Other,
        _ if c.is_ascii() => Class::Symbol,
        _ => match c.general_category_group() {
            GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number => Class::Other,
            _ => Class::Symbol,
        },
    };
    split(text, true, class, each);
}

fn any(c: char) -> Class {
    if is_space(c) {
        Class::Space
    } else {
        Class::Other
    }
}

fn character(c: char) -> Class {
    if is_space(c) {
        Class::Space
    } else {
        Class::Symbol
    }
}

fn international(c: char) -> Class {
    match c {
        // Most characters are ASCII, for which this is much faster than the tables of Unicode.
        '0'..='9' => Class::Number,
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => Class::Symbol,
        c if c.is_ascii_punctuation() => Class::Point,
        '\0'..='\x7f' => any(c),
        _ => match c.general_category_group() {
            GeneralCategoryGroup::Number => Class::Number,
            GeneralCategoryGroup::Punctuation => Class::Point,
            GeneralCategoryGroup::Symbol => Class::Symbol,
            _ => any(c),
        },
    }
}

fn chinese(c: char) -> Class {
    match c {
        '\0'..='\u{2000}' => western(c),
        c if is_space(c) => Class::Space,
        '\u{2001}'..='\u{2a6d}'
        | '\u{2e80}'..='\u{303f}'
        | '\u{3100}'..='\u{312f}'
        | '\u{31a0}'..='\u{31ef}'
        | '\u{3200}'..='\u{4db5}'
        | '\u{4e00}'..='\u{9fbb}'
        | '\u{f900}'..='\u{fa2d}'
        | '\u{fa30}'..='\u{fa6a}'
        | '\u{fa70}'..='\u{fad9}'
        | '\u{fe10}'..='\u{fe1f}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}' => Class::Symbol,
        _ => Class::Other,
    }
}
