use std::borrow::Cow;

use super::{Ter, TerProfile};
use crate::normalize;
use crate::translation::{Class, is_space, split, unescape, western};

impl Ter {
    /// Returns the tokens of a prediction.
    ///
    /// ```
    /// use metric_text::Ter;
    ///
    /// assert_eq!(Ter::default().tokens("The cat's  (paw)."), ["the", "cat's", "(paw)."]);
    /// let ter = Ter::default().with_normalized(true).with_case_sensitive(true);
    /// assert_eq!(ter.tokens("The cat's  (paw)."), ["The", "cat", "'s", "(", "paw", ")", "."]);
    /// ```
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<String> {
        words(&self.prepare(text)).map(str::to_owned).collect()
    }

    /// Returns the tokens of a reference.
    ///
    /// sacreBLEU prepares references twice. With [`normalized`](Self::normalized) this can separate more.
    ///
    /// ```
    /// use metric_text::ter::{Ter, TerProfile};
    ///
    /// let ter = Ter::default().with_normalized(true);
    /// assert_eq!(ter.tokens("a.,5"), ["a", ".", ",5"]);
    /// assert_eq!(ter.reference_tokens("a.,5"), ["a", ".", ",", "5"]);
    /// let corrected = ter.with_profile(TerProfile::Corrected);
    /// assert_eq!(corrected.reference_tokens("a.,5"), ["a", ".", ",5"]);
    /// ```
    #[must_use]
    pub fn reference_tokens(&self, text: &str) -> Vec<String> {
        words(&self.prepare_reference(text))
            .map(str::to_owned)
            .collect()
    }

    /// Returns a reference with white space between its tokens.
    pub(super) fn prepare_reference<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let once = self.prepare(text);
        // Without normalization a second time changes nothing.
        if self.normalized && self.profile == TerProfile::Sacrebleu {
            Cow::Owned(self.prepare(&once).into_owned())
        } else {
            once
        }
    }

    /// Returns a prediction with white space between its tokens.
    pub(super) fn prepare<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = if self.case_sensitive {
            Cow::Borrowed(text)
        } else {
            normalize::lower(text)
        };
        let text = if self.normalized {
            self.separate(text.trim_end_matches(is_space))
        } else {
            text
        };
        if !self.no_punct {
            return text;
        }
        let kept = text.chars().filter(|c| !self.is_punctuation(*c));
        Cow::Owned(kept.collect())
    }

    fn separate(&self, text: &str) -> Cow<'static, str> {
        let text = unescape(text.into(), &["\n-"]);
        let text = separate_genitives(text);
        let class = |c| match western(c) {
            Class::Other if self.asian_support && is_asian(c) => Class::Symbol,
            class => class,
        };
        let mut tokens = String::with_capacity(text.len() + text.len() / 4);
        split(&text, true, class, &mut |token| {
            if !tokens.is_empty() {
                tokens.push(' ');
            }
            tokens.push_str(token);
        });
        tokens.into()
    }

    fn is_punctuation(&self, c: char) -> bool {
        matches!(c, '.' | ',' | '?' | ':' | ';' | '!' | '"' | '(' | ')')
            || self.asian_support && is_asian_punctuation(c)
    }
}

/// The tokens of a text with white space between them.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Puts a space before each `'s` at the end of a word.
fn separate_genitives(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains("'s") {
        return text;
    }
    let mut separated = String::with_capacity(text.len() + 8);
    let mut rest = &*text;
    while let Some((before, after)) = rest.split_once("'s") {
        // White space other than spaces and line feeds does not end a word here.
        let ends = after
            .chars()
            .next()
            .is_none_or(|c| matches!(c, ' ' | '\n') || western(c) == Class::Symbol);
        separated.push_str(before);
        separated.push_str(if ends { " 's" } else { "'s" });
        rest = after;
    }
    separated.push_str(rest);
    Cow::Owned(separated)
}

fn is_asian(c: char) -> bool {
    matches!(
        c,
        '\u{2e80}'..='\u{2eff}'
            | '\u{31c0}'..='\u{31ef}'
            | '\u{3200}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{fe30}'..='\u{fe4f}'
    ) || is_asian_punctuation(c)
}

fn is_asian_punctuation(c: char) -> bool {
    matches!(
        c,
        '\u{3001}' | '\u{3002}'
            | '\u{3008}'..='\u{3011}'
            | '\u{3014}'..='\u{301f}'
            | '\u{ff61}'..='\u{ff65}'
            | '\u{30fb}'
            // Full width.
            | '\u{ff01}' | '\u{ff02}' | '\u{ff08}' | '\u{ff09}' | '\u{ff0c}' | '\u{ff0e}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}'
    )
}
