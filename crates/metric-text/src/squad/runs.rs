//! The longest run that two lists have in common.

use std::hash::Hash;

use hashbrown::HashMap;

/// A state of the automaton of all runs of a list: the runs that end at the same positions.
struct State<'l, T> {
    /// The length of the longest of them.
    length: usize,
    /// The state of the longest of their ends that is not among them.
    shorter: Option<usize>,
    next: HashMap<&'l T, usize>,
}

/// Returns the length of the longest run of units that is in both lists, in time linear in their lengths.
///
/// A. Blumer et al., *The smallest automaton recognizing the subwords of a text* (1985).
pub(super) fn longest_common_run<T: Eq + Hash>(a: &[T], b: &[T]) -> usize {
    let states = automaton(a);
    let (mut at, mut length, mut longest) = (0, 0, 0);
    for unit in b {
        loop {
            match (states[at].next.get(unit), states[at].shorter) {
                (Some(next), _) => {
                    (at, length) = (*next, length + 1);
                    break;
                }
                (None, Some(shorter)) => (at, length) = (shorter, states[shorter].length),
                (None, None) => {
                    length = 0;
                    break;
                }
            }
        }
        longest = longest.max(length);
    }
    longest
}

/// The automaton of the runs of a list. State 0 is the empty run.
fn automaton<T: Eq + Hash>(list: &[T]) -> Vec<State<'_, T>> {
    let mut states = vec![State {
        length: 0,
        shorter: None,
        next: HashMap::new(),
    }];
    let mut last = 0;
    for unit in list {
        let new = states.len();
        states.push(State {
            length: states[last].length + 1,
            shorter: Some(0),
            next: HashMap::new(),
        });
        let mut from = Some(last);
        last = new;
        while let Some(at) = from
            && !states[at].next.contains_key(unit)
        {
            states[at].next.insert(unit, new);
            from = states[at].shorter;
        }
        let Some(at) = from else {
            continue;
        };
        let known = states[at].next[unit];
        let length = states[at].length + 1;
        if states[known].length == length {
            states[new].shorter = Some(known);
            continue;
        }
        // The shorter runs of the known state end at more positions from now on.
        let split = states.len();
        states.push(State {
            length,
            shorter: states[known].shorter,
            next: states[known].next.clone(),
        });
        states[known].shorter = Some(split);
        states[new].shorter = Some(split);
        while let Some(at) = from
            && states[at].next.get(unit) == Some(&known)
        {
            states[at].next.insert(unit, split);
            from = states[at].shorter;
        }
    }
    states
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn runs_by_hand() {
        let rows = [
            ("", "", 0),
            ("a", "b", 0),
            ("abcde", "xbcdy", 3),
            ("abab", "baba", 3),
        ];
        for (a, b, expected) in rows {
            assert_eq!(longest_common_run(a.as_bytes(), b.as_bytes()), expected);
        }
    }

    proptest! {
        #[test]
        fn each_run_is_looked_at(a in proptest::collection::vec(0_u8..3, 0..20), b in proptest::collection::vec(0_u8..3, 0..20)) {
            let has = |run: &[u8]| b.windows(run.len()).any(|other| other == run);
            let runs = (1..=a.len()).filter(|&length| a.windows(length).any(has));
            prop_assert_eq!(longest_common_run(&a, &b), runs.max().unwrap_or(0));
        }
    }
}
