//! The oracle of the tests: the rules word by word, which the real evaluation is compared with.
//!
//! States are copied and loops run twice, so it is exponential in the depth of loops.

use std::collections::BTreeMap;

use super::{Edge, Failed, Relation, Rule, UPDATE};
use crate::classes::{Classes, Dialect};
use crate::parse::{Node, Tree};
use crate::rules::Part;
use crate::tokens::{Tokens, Variable};

/// An edge before merging.
#[derive(Clone)]
struct Item {
    variable: Variable,
    relation: Relation,
    names: Vec<u32>,
    numbers: Vec<u32>,
}

/// Names and the numbers of their latest definitions.
type State = BTreeMap<u32, Vec<u32>>;

struct Literal<'a> {
    tree: &'a Tree,
    classes: &'a Classes,
    tokens: Tokens,
}

/// The result of [`super::edges`].
pub(super) fn edges(tree: &Tree, text: &str, classes: &Classes) -> Vec<Edge> {
    let mut tokens = Tokens::default();
    tokens.read(tree, text, classes);
    let mut literal = Literal {
        tree,
        classes,
        tokens,
    };
    let evaluated = literal.evaluate(0, State::new());
    let mut items = evaluated.map_or(Vec::new(), |(items, _)| items);
    items.sort_by_key(|item| item.variable.number);
    let linked: Vec<u32> = items
        .iter()
        .filter(|item| !item.numbers.is_empty())
        .flat_map(|item| item.numbers.iter().copied().chain([item.variable.number]))
        .collect();
    items.retain(|item| linked.contains(&item.variable.number));
    let mut merged: Vec<Item> = Vec::new();
    for item in items {
        match merged.last_mut() {
            Some(last) if last.variable.number == item.variable.number => {
                last.relation = item.relation;
                last.names = union(&last.names, &item.names);
            }
            _ => merged.push(item),
        }
    }
    let mut numbers: Vec<u32> = Vec::new();
    let mut number = |name: u32| match numbers.iter().position(|other| *other == name) {
        Some(index) => index as u32,
        None => {
            numbers.push(name);
            numbers.len() as u32 - 1
        }
    };
    let edge = |item: Item| {
        let parents = item.names.iter().map(|name| number(*name)).collect();
        Edge {
            parents,
            variable: number(item.variable.name),
            relation: item.relation,
        }
    };
    merged.into_iter().map(edge).collect()
}

fn union(first: &[u32], second: &[u32]) -> Vec<u32> {
    let mut union = Vec::new();
    for name in first.iter().chain(second) {
        if !union.contains(name) {
            union.push(*name);
        }
    }
    union
}

/// Merges the items of a loop by variable and relation.
fn fold(items: Vec<Item>) -> Vec<Item> {
    let mut folded: Vec<Item> = Vec::new();
    for item in items {
        let same = folded.iter_mut().find(|other| {
            (other.variable.number, other.relation) == (item.variable.number, item.relation)
        });
        match same {
            Some(other) => {
                other.names = union(&other.names, &item.names);
                other.numbers = union(&other.numbers, &item.numbers);
            }
            None => folded.push(item),
        }
    }
    folded
}

impl Literal<'_> {
    fn node(&self, node: u32) -> &Node {
        &self.tree.nodes[node as usize]
    }

    fn children(&self, node: u32) -> Vec<u32> {
        self.tree.children(node).collect()
    }

    fn kind(&self, node: u32) -> &'static str {
        self.classes.class(self.node(node)).name
    }

    fn part(&self, node: u32, part: Part) -> Option<u32> {
        let mut children = self.children(node);
        if self.classes.dialect == Dialect::Corrected {
            children.retain(|child| !self.classes.class(self.node(*child)).comment);
        }
        match part {
            Part::Field(name) | Part::OptionalField(name) => {
                let field = self.classes.field(name)?;
                children
                    .into_iter()
                    .find(|child| self.node(*child).field() == field)
            }
            Part::Child(index) => children.get(index).copied(),
            Part::SecondOfTwo if children.len() == 2 => Some(children[1]),
            Part::SecondOfTwo => None,
            Part::After(kind) => {
                let index = children
                    .iter()
                    .position(|child| self.kind(*child) == kind)?;
                children.get(index + 1).copied()
            }
            Part::OfKind(kind, index) => children
                .into_iter()
                .filter(|child| self.kind(*child) == kind)
                .nth(index),
            Part::Last => children.last().copied(),
            Part::LastIf(kind) => children
                .last()
                .copied()
                .filter(|child| self.kind(*child) == kind),
        }
    }

    fn variables(&mut self, node: u32) -> Result<Vec<Variable>, Failed> {
        let below = self
            .tokens
            .variables_below(self.tree, self.classes, node)
            .ok_or(Failed)?;
        Ok(self.tokens.variables[below.start as usize..below.end as usize].to_vec())
    }

    fn all(
        &mut self,
        nodes: impl IntoIterator<Item = u32>,
        mut state: State,
    ) -> Result<(Vec<Item>, State), Failed> {
        let mut items = Vec::new();
        for node in nodes {
            let (more, after) = self.evaluate(node, state)?;
            items.extend(more);
            state = after;
        }
        Ok((items, state))
    }

    fn assign(
        &mut self,
        [left, right]: [u32; 2],
        relation: Relation,
        each: bool,
        state: &mut State,
    ) -> Result<Vec<Item>, Failed> {
        let (left, right) = (self.variables(left)?, self.variables(right)?);
        let mut items = Vec::new();
        for variable in left {
            let item = |sources: &[Variable]| Item {
                variable,
                relation,
                names: sources.iter().map(|source| source.name).collect(),
                numbers: sources.iter().map(|source| source.number).collect(),
            };
            if each {
                items.extend(right.chunks(1).map(item));
            } else {
                items.push(item(&right));
            }
            state.insert(variable.name, vec![variable.number]);
        }
        Ok(items)
    }

    fn lists(
        &mut self,
        [left, right]: [u32; 2],
        split: bool,
        compound: bool,
        state: &mut State,
    ) -> Result<Vec<Item>, Failed> {
        let elements = |node: u32| -> Vec<u32> {
            let class = self.classes.class(self.node(node));
            if !split || (self.is_corrected() && class.whole) {
                return Vec::new();
            }
            let mut children = self.children(node);
            children.retain(|child| {
                let class = self.classes.class(self.node(*child));
                class.name != "," && !(self.is_corrected() && class.comment)
            });
            children
        };
        let (mut lefts, mut rights) = (elements(left), elements(right));
        if lefts.len() != rights.len() || lefts.is_empty() {
            (lefts, rights) = (vec![left], vec![right]);
        }
        let (mut items, after) = self.all(rights.clone(), std::mem::take(state))?;
        *state = after;
        for (left, right) in lefts.into_iter().zip(rights) {
            if compound {
                items.extend(self.old_values(left, state)?);
            }
            items.extend(self.assign([left, right], Relation::ComputedFrom, false, state)?);
        }
        Ok(items)
    }

    fn is_corrected(&self) -> bool {
        self.classes.dialect == Dialect::Corrected
    }

    fn is_compound(&self, node: u32) -> bool {
        let operators = ["+=", "-=", "*=", "/=", ".=", "||="];
        let mut children = self.children(node).into_iter();
        self.is_corrected() && children.any(|child| operators.contains(&self.kind(child)))
    }

    /// Each variable of a left side from its definitions so far.
    fn old_values(&mut self, left: u32, state: &State) -> Result<Vec<Item>, Failed> {
        let known = |variable: Variable| {
            let numbers = state.get(&variable.name)?.clone();
            Some(Item {
                variable,
                relation: Relation::ComputedFrom,
                names: vec![variable.name],
                numbers,
            })
        };
        Ok(self
            .variables(left)?
            .into_iter()
            .filter_map(known)
            .collect())
    }

    /// A rule that lacks a part.
    fn lacking(&mut self, node: u32, state: State) -> Result<(Vec<Item>, State), Failed> {
        if self.is_corrected() {
            self.all(self.children(node), state)
        } else {
            Err(Failed)
        }
    }

    #[expect(clippy::too_many_lines, reason = "an arm for each rule")]
    fn evaluate(&mut self, node: u32, mut state: State) -> Result<(Vec<Item>, State), Failed> {
        let class = self.classes.class(self.node(node));
        let children = self.children(node);
        if class.comment && self.is_corrected() {
            return Ok((Vec::new(), state));
        }
        if (children.is_empty() || class.whole) && !class.comment {
            let token = self.tokens.at(self.tree, node).ok_or(Failed)?;
            if !token.variable {
                return Ok((Vec::new(), state));
            }
            let numbers = state.get(&token.name).cloned().unwrap_or_default();
            let names = numbers.first().map(|_| token.name);
            if numbers.is_empty() && class.identifier {
                state.insert(token.name, vec![token.number]);
            }
            let item = Item {
                variable: Variable {
                    number: token.number,
                    name: token.name,
                },
                relation: Relation::ComesFrom,
                names: names.into_iter().collect(),
                numbers,
            };
            return Ok((vec![item], state));
        }
        match class.rule.copied() {
            None | Some(Rule::Sequence) => {
                let (first, rest): (Vec<_>, Vec<_>) = children
                    .into_iter()
                    .partition(|child| self.classes.class(self.node(*child)).before_siblings);
                self.all(first.into_iter().chain(rest), state)
            }
            Some(Rule::IncrementBy(kinds))
                if !children
                    .iter()
                    .any(|child| kinds.contains(&self.kind(*child))) =>
            {
                self.all(children, state)
            }
            Some(Rule::Increment | Rule::IncrementBy(_)) => {
                let pair = [node, node];
                let items = self.assign(pair, Relation::ComputedFrom, true, &mut state)?;
                Ok((items, state))
            }
            Some(Rule::Definition { name, value }) => {
                let name = self.part(node, name).ok_or(Failed)?;
                let Some(value) = self.part(node, value) else {
                    let mut items = Vec::new();
                    for variable in self.variables(name)? {
                        state.insert(variable.name, vec![variable.number]);
                        items.push(Item {
                            variable,
                            relation: Relation::ComesFrom,
                            names: Vec::new(),
                            numbers: Vec::new(),
                        });
                    }
                    return Ok((items, state));
                };
                let (mut items, mut state) = self.evaluate(value, state)?;
                let pair = [name, value];
                items.extend(self.assign(pair, Relation::ComesFrom, true, &mut state)?);
                Ok((items, state))
            }
            Some(Rule::Assignment { left, right }) => {
                let (Some(left), Some(right)) = (self.part(node, left), self.part(node, right))
                else {
                    return self.lacking(node, state);
                };
                let (mut items, mut state) = self.evaluate(right, state)?;
                if self.is_compound(node) {
                    items.extend(self.old_values(left, &state)?);
                }
                let pair = [left, right];
                items.extend(self.assign(pair, Relation::ComputedFrom, true, &mut state)?);
                Ok((items, state))
            }
            Some(Rule::ListAssignment { left, right, split }) => {
                let optional = matches!(right, Part::OptionalField(_));
                let Some(right) = self.part(node, right) else {
                    return if optional {
                        Ok((Vec::new(), state))
                    } else {
                        Err(Failed)
                    };
                };
                let left = self.part(node, left).ok_or(Failed)?;
                let items = self.lists([left, right], split, self.is_compound(node), &mut state)?;
                Ok((items, state))
            }
            Some(Rule::If) => {
                let alternative = |child: &u32| self.classes.class(self.node(*child)).alternative;
                let has_else =
                    class.has_else || children.iter().any(|c| self.kind(*c).contains("else"));
                let first = children.iter().position(&alternative);
                let is_alternative: Vec<bool> = children
                    .iter()
                    .enumerate()
                    .map(|(index, child)| {
                        if self.classes.rest_are_alternatives {
                            first.is_some_and(|first| index >= first)
                        } else {
                            alternative(child)
                        }
                    })
                    .collect();
                let (mut items, mut current) = (Vec::new(), state.clone());
                let mut ends = Vec::new();
                for (child, is_alternative) in children.into_iter().zip(is_alternative) {
                    let from = if is_alternative {
                        state.clone()
                    } else {
                        current.clone()
                    };
                    let (more, after) = self.evaluate(child, from)?;
                    items.extend(more);
                    if is_alternative {
                        ends.push(after);
                    } else {
                        current = after;
                    }
                }
                ends.push(current);
                if !has_else || self.classes.keeps_state {
                    ends.push(state);
                }
                let mut joined = State::new();
                for (name, numbers) in ends.into_iter().flatten() {
                    let known = joined.entry(name).or_default();
                    *known = union(known, &numbers);
                }
                Ok((items, joined))
            }
            Some(Rule::For) => {
                let init = children
                    .iter()
                    .position(|child| self.classes.class(self.node(*child)).init);
                let (mut items, mut state) = self.all(children.clone(), state)?;
                if let Some(init) = init {
                    let update = self.part(children[init], Part::Field(UPDATE));
                    let again = update
                        .into_iter()
                        .chain(children[init + 1..].iter().copied());
                    let (more, after) = self.all(again.collect::<Vec<_>>(), state)?;
                    items.extend(more);
                    state = after;
                }
                Ok((fold(items), state))
            }
            Some(Rule::While) => {
                let twice = children.iter().chain(&children).copied();
                let (items, state) = self.all(twice.collect::<Vec<_>>(), state)?;
                Ok((fold(items), state))
            }
            Some(Rule::ForEach { name, value, body }) => {
                let parts = [name, value, body].map(|part| self.part(node, part));
                let [Some(name), Some(value), Some(body)] = parts else {
                    return self.lacking(node, state);
                };
                let mut items = Vec::new();
                for _ in 0..2 {
                    let (more, after) = self.evaluate(value, state)?;
                    state = after;
                    items.extend(more);
                    let pair = [name, value];
                    items.extend(self.assign(pair, Relation::ComputedFrom, true, &mut state)?);
                    let (more, after) = self.evaluate(body, state)?;
                    state = after;
                    items.extend(more);
                }
                Ok((fold(items), state))
            }
            Some(Rule::ListForEach {
                name,
                value,
                body,
                split,
            }) => {
                let name = self.part(node, name).ok_or(Failed)?;
                let value = self.part(node, value).ok_or(Failed)?;
                let optional = matches!(body, Part::LastIf(_));
                let body = self.part(node, body);
                if body.is_none() && !optional {
                    return Err(Failed);
                }
                let mut items = Vec::new();
                for _ in 0..2 {
                    items.extend(self.lists([name, value], split, false, &mut state)?);
                    let (more, after) = self.all(body, state)?;
                    state = after;
                    items.extend(more);
                }
                Ok((fold(items), state))
            }
        }
    }
}
