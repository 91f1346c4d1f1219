//! Where the value of each variable comes from.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::classes::{Class, Classes, Dialect};
use crate::hash::Digest;
use crate::parse::Tree;
use crate::rules::{Part, Rule, UPDATE};
use crate::tokens::{NONE, Tokens, Variable};

/// The way in which a variable gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// By use or definition.
    ComesFrom,
    /// By assignment.
    ComputedFrom,
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ComesFrom => "comesFrom",
            Self::ComputedFrom => "computedFrom",
        })
    }
}

/// One edge of a dataflow: a variable and those that its value comes from.
///
/// Variables are numbered in the order in which the edges first name them, parents before the
/// variable itself, so that a consistent renaming changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The variable.
    pub variable: u32,
    /// The way in which it gets its value.
    pub relation: Relation,
    /// The variables that its value comes from. Edges of one assignment share them.
    pub parents: Arc<[u32]>,
}

/// The edges of a tree's dataflow.
pub(crate) fn edges(tree: &Tree, text: &str, classes: &Classes) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut memory = Memory::default();
    let list = |parents: &[u32]| Arc::from(parents);
    let flow = Flow::new(tree, text, classes, &mut memory);
    flow.normalise(list, |variable, relation, parents: &Arc<[u32]>| {
        edges.push(Edge {
            variable,
            relation,
            parents: Arc::clone(parents),
        });
    });
    edges
}

/// The hashes of the edges of a tree's dataflow, sorted.
pub(crate) fn edge_hashes(
    tree: &Tree,
    text: &str,
    classes: &Classes,
    memory: &mut Memory,
) -> Vec<u128> {
    let mut hashes = Vec::new();
    let list = |parents: &[u32]| {
        let digest = Digest::from_word(parents.len() as u64);
        parents
            .iter()
            .fold(digest, |digest, &parent| digest.with(u64::from(parent)))
            .finish()
    };
    Flow::new(tree, text, classes, memory).normalise(list, |variable, relation, parents| {
        let head = u64::from(variable) << 1 | u64::from(relation == Relation::ComputedFrom);
        hashes.push(Digest::from_word(head).with_hash(*parents).finish());
    });
    hashes.sort_unstable();
    hashes
}

/// A rule reached a node without a part that it requires.
///
/// In the original evaluator the exception is caught and the whole text has no dataflow.
struct Failed;

/// The definitions of a name that reach some point of the text.
///
/// Where the point is passed several times, with several states, this is their union. That is enough
/// since an evaluation distributes over unions: a name's definitions X become K or X and K, and
/// those of an absent name become something fixed.
#[derive(Clone, Copy, PartialEq)]
struct Reach {
    /// Their numbers: [`EMPTY`], a token's number plus one, or an index into [`Memory::unions`]
    /// behind these.
    set: u32,
    /// Whether the name may have none, so that a use would become its definition.
    absent: bool,
    /// Whether it has none when the point is passed for the first time.
    absent_at_first: bool,
}

impl Reach {
    /// A name with these definitions.
    fn defined(set: u32) -> Self {
        Self {
            set,
            absent: false,
            absent_at_first: false,
        }
    }
}

const EMPTY: u32 = 0;

/// The purpose of an evaluation.
#[derive(Clone, Copy, PartialEq)]
enum Pass {
    /// Its effect on the state.
    Effect,
    /// That and the edges.
    Edges {
        /// The original evaluator comes here more than once.
        repeated: bool,
    },
}

/// The right side of an assignment: a range of variables.
struct Sources {
    variables: Range<u32>,
    /// Each named once, as where the original evaluator merges edges.
    distinct: bool,
}

/// The facts known about the edge that ends at a token.
#[derive(Clone, Copy)]
struct Item {
    name: u32,
    relation: Option<Relation>,
    /// Has parents or is one. Other edges do not count.
    linked: bool,
    /// Has its own name among its parents.
    itself: bool,
    /// Has it behind its sources, since the first time there was no definition to come from.
    itself_last: bool,
    /// Its sources, or [`NONE`]; further ones in [`Memory::further_sources`].
    sources: u32,
}

/// The evaluation of a text.
///
/// The original evaluator runs the body of a loop twice, so that nested loops cost 2 to the power of
/// their depth. Here a body is run once for its effect, and once for its edges with the states of
/// both rounds at once. That is the same because a second run of a body has no effect that the
/// first did not have, and it costs the length of the text times the depth of its loops.
struct Flow<'a> {
    tree: &'a Tree,
    classes: &'a Classes,
    memory: &'a mut Memory,
}

/// The memory of an evaluation, to be reused by the next.
#[derive(Default)]
pub(crate) struct Memory {
    tokens: Tokens,
    /// By name.
    state: Vec<Reach>,
    /// The changes that an open `if` or loop will undo: the name and what was there before.
    trail: Vec<(u32, Reach)>,
    /// The number of open `if`s and loops.
    open_scopes: u32,
    /// Pairs of sets.
    unions: Vec<(u32, u32)>,
    /// Whether a union's numbers are all linked already.
    linked_unions: Vec<bool>,
    /// By token number.
    items: Vec<Item>,
    sources: Vec<Sources>,
    /// Numbers with second and later sources.
    further_sources: Vec<(u32, u32)>,
    numbered: Numbered,
}

impl Memory {
    /// Begins with a text.
    fn clear(&mut self, tree: &Tree, text: &str, classes: &Classes) {
        self.tokens.read(tree, text, classes);
        self.state.clear();
        self.state.resize(
            self.tokens.names(),
            Reach {
                set: EMPTY,
                absent: true,
                absent_at_first: true,
            },
        );
        self.items.clear();
        self.items.resize(
            self.tokens.list.len(),
            Item {
                name: NONE,
                relation: None,
                linked: false,
                itself: false,
                itself_last: false,
                sources: NONE,
            },
        );
        self.trail.clear();
        self.open_scopes = 0;
        self.unions.clear();
        self.linked_unions.clear();
        self.sources.clear();
        self.further_sources.clear();
    }
}

impl<'a> Flow<'a> {
    /// Evaluates a text. The dataflow of a tree that is [too deep](Tree::too_deep) is empty.
    fn new(tree: &'a Tree, text: &str, classes: &'a Classes, memory: &'a mut Memory) -> Self {
        memory.clear(tree, text, classes);
        let mut flow = Self {
            tree,
            classes,
            memory,
        };
        let pass = Pass::Edges { repeated: false };
        if tree.too_deep() || tree.with_stack(|| flow.evaluate(0, pass)).is_err() {
            flow.memory.items.clear();
        }
        flow
    }

    fn evaluate(&mut self, node: u32, pass: Pass) -> Result<(), Failed> {
        let class = self.class(node);
        if class.comment {
            return match self.classes.dialect {
                Dialect::Original => self.sequence(node, pass),
                Dialect::Corrected => Ok(()),
            };
        }
        if class.whole || self.tree.is_leaf(node) {
            return self.use_token(node, class.identifier, pass);
        }
        match class.rule.copied() {
            None | Some(Rule::Sequence) => self.sequence(node, pass),
            Some(Rule::If) => self.alternatives(node, class.has_else, pass),
            Some(Rule::For) => self.for_loop(node, pass),
            Some(Rule::While) => self.repeat(pass, None, |flow, pass| flow.sequence(node, pass)),
            Some(Rule::Increment) => self.increment(node, pass),
            Some(Rule::IncrementBy(kinds)) => {
                let is_operator = |child| kinds.contains(&self.kind_name(child));
                if self.tree.children(node).any(is_operator) {
                    self.increment(node, pass)
                } else {
                    self.sequence(node, pass)
                }
            }
            Some(Rule::Definition { name, value }) => match self.part(node, name) {
                Some(name) => self.definition(name, self.part(node, value), pass),
                None => self.lacking(node, pass),
            },
            Some(Rule::Assignment { left, right }) => {
                let (Some(left), Some(right)) = (self.part(node, left), self.part(node, right))
                else {
                    return self.lacking(node, pass);
                };
                self.evaluate(right, pass)?;
                if self.is_compound(node) {
                    self.use_old_value(left, pass)?;
                }
                self.set(left, right, Relation::ComputedFrom, pass)
            }
            Some(Rule::ListAssignment { left, right, split }) => {
                match (self.part(node, left), self.part(node, right)) {
                    (_, None) if matches!(right, Part::OptionalField(_)) => Ok(()),
                    (Some(left), Some(right)) => {
                        let compound = self.is_compound(node);
                        self.assign_lists(left, right, split, compound, pass)
                    }
                    _ => self.lacking(node, pass),
                }
            }
            Some(Rule::ForEach { name, value, body }) => {
                let parts = [name, value, body].map(|part| self.part(node, part));
                let [Some(name), Some(value), Some(body)] = parts else {
                    return self.lacking(node, pass);
                };
                self.repeat(pass, None, |flow, pass| {
                    flow.assign(name, value, Relation::ComputedFrom, pass)?;
                    flow.evaluate(body, pass)
                })
            }
            Some(Rule::ListForEach {
                name,
                value,
                body,
                split,
            }) => {
                let parts = [name, value, body].map(|part| self.part(node, part));
                let ([Some(name), Some(value), body], true) =
                    (parts, parts[2].is_some() || matches!(body, Part::LastIf(_)))
                else {
                    return self.lacking(node, pass);
                };
                self.repeat(pass, None, |flow, pass| {
                    flow.assign_lists(name, value, split, false, pass)?;
                    body.map_or(Ok(()), |body| flow.evaluate(body, pass))
                })
            }
        }
    }

    /// A definition of names, with a value or without.
    fn definition(&mut self, name: u32, value: Option<u32>, pass: Pass) -> Result<(), Failed> {
        if let Some(value) = value {
            return self.assign(name, value, Relation::ComesFrom, pass);
        }
        for variable in self.variables(name)? {
            let variable = self.memory.tokens.variables[variable as usize];
            self.meet(variable, Relation::ComesFrom, pass);
            self.define(variable);
        }
        Ok(())
    }

    /// The children in order, except that those of one kind go first.
    fn sequence(&mut self, node: u32, pass: Pass) -> Result<(), Failed> {
        let tree = self.tree;
        if self.classes.has_before_siblings {
            for child in tree.children(node) {
                if self.class(child).before_siblings {
                    self.evaluate(child, pass)?;
                }
            }
        }
        for child in tree.children(node) {
            if !self.class(child).before_siblings {
                self.evaluate(child, pass)?;
            }
        }
        Ok(())
    }

    fn class(&self, node: u32) -> &'a Class {
        self.classes.class(&self.tree.nodes[node as usize])
    }

    fn kind_name(&self, node: u32) -> &'static str {
        self.class(node).name
    }

    fn part(&self, node: u32, part: Part) -> Option<u32> {
        let (tree, classes) = (self.tree, self.classes);
        let mut children = tree
            .children(node)
            .filter(|&child| classes.dialect == Dialect::Original || !self.class(child).comment);
        match part {
            Part::Field(name) | Part::OptionalField(name) => {
                self.tree.child_in(node, self.classes.field(name)?)
            }
            Part::Child(index) => children.nth(index),
            Part::SecondOfTwo => children.nth(1).filter(|_| children.next().is_none()),
            Part::After(kind) => {
                children.find(|&child| self.kind_name(child) == kind)?;
                children.next()
            }
            Part::OfKind(kind, index) => {
                let mut of_kind = children.filter(|&child| self.kind_name(child) == kind);
                of_kind.nth(index)
            }
            Part::Last => children.last(),
            Part::LastIf(kind) => children
                .last()
                .filter(|&child| self.kind_name(child) == kind),
        }
    }

    /// A node that lacks a part: the end for the original evaluator, else it has no rule.
    fn lacking(&mut self, node: u32, pass: Pass) -> Result<(), Failed> {
        match self.classes.dialect {
            Dialect::Original => Err(Failed),
            Dialect::Corrected => self.sequence(node, pass),
        }
    }

    /// Whether an assignment has an operator such as `+=`, which the original evaluator overlooks.
    fn is_compound(&self, node: u32) -> bool {
        let is_operator = |child: u32| {
            let class = self.class(child);
            !class.named && class.name.ends_with('=') && !matches!(class.name, "=" | ":=")
        };
        self.classes.dialect == Dialect::Corrected && self.tree.children(node).any(is_operator)
    }

    fn variables(&mut self, node: u32) -> Result<Range<u32>, Failed> {
        self.memory
            .tokens
            .variables_below(self.tree, self.classes, node)
            .ok_or(Failed)
    }

    /// A token by itself: a use, and for a name without definitions its first.
    fn use_token(&mut self, node: u32, identifier: bool, pass: Pass) -> Result<(), Failed> {
        let token = self.memory.tokens.at(self.tree, node).ok_or(Failed)?;
        if !token.variable {
            return Ok(());
        }
        let variable = Variable {
            number: token.number,
            name: token.name,
        };
        self.meet(variable, Relation::ComesFrom, pass);
        self.read(variable, pass);
        let Reach { set, absent, .. } = self.memory.state[variable.name as usize];
        if absent && identifier {
            let set = self.union(set, variable.number + 1);
            self.change(variable.name, Reach::defined(set));
        }
        Ok(())
    }

    /// Links a variable with the definitions that reach it.
    fn read(&mut self, variable: Variable, pass: Pass) {
        let set = self.memory.state[variable.name as usize].set;
        if pass != Pass::Effect && set != EMPTY {
            let item = &mut self.memory.items[variable.number as usize];
            item.itself = true;
            item.linked = true;
            self.link(set);
        }
    }

    /// Notes that a variable has an edge.
    fn meet(&mut self, variable: Variable, relation: Relation, pass: Pass) {
        if pass != Pass::Effect {
            let item = &mut self.memory.items[variable.number as usize];
            item.name = variable.name;
            item.relation = Some(relation);
        }
    }

    fn define(&mut self, variable: Variable) {
        self.change(variable.name, Reach::defined(variable.number + 1));
    }

    fn increment(&mut self, node: u32, pass: Pass) -> Result<(), Failed> {
        self.set(node, node, Relation::ComputedFrom, pass)
    }

    fn assign(
        &mut self,
        left: u32,
        right: u32,
        relation: Relation,
        pass: Pass,
    ) -> Result<(), Failed> {
        self.evaluate(right, pass)?;
        self.set(left, right, relation, pass)
    }

    /// Each variable on the left from each on the right, edge by edge.
    fn set(&mut self, left: u32, right: u32, relation: Relation, pass: Pass) -> Result<(), Failed> {
        let left = self.variables(left)?;
        let right = self.variables(right)?;
        if pass == Pass::Effect || right.is_empty() {
            self.define_all(left);
            return Ok(());
        }
        self.derive(left, right, relation, true);
        Ok(())
    }

    /// Left sides from right sides, one edge for each variable on the left.
    fn assign_lists(
        &mut self,
        left: u32,
        right: u32,
        split: bool,
        compound: bool,
        pass: Pass,
    ) -> Result<(), Failed> {
        let (tree, classes) = (self.tree, self.classes);
        let elements = |node: u32| -> Vec<u32> {
            let class = classes.class(&tree.nodes[node as usize]);
            // The original evaluator takes strings apart here and then fails on the parts.
            if !split || (class.whole && classes.dialect == Dialect::Corrected) {
                return Vec::new();
            }
            let is_element = |&child: &u32| {
                let class = classes.class(&tree.nodes[child as usize]);
                !(class.comma || class.comment && classes.dialect == Dialect::Corrected)
            };
            tree.children(node).filter(is_element).collect()
        };
        let (mut lefts, mut rights) = (elements(left), elements(right));
        if lefts.len() != rights.len() || lefts.is_empty() {
            (lefts, rights) = (vec![left], vec![right]);
        }
        for &right in &rights {
            self.evaluate(right, pass)?;
        }
        for (left, right) in lefts.into_iter().zip(rights) {
            if compound {
                self.use_old_value(left, pass)?;
            }
            let left = self.variables(left)?;
            let right = self.variables(right)?;
            match pass {
                Pass::Effect => self.define_all(left),
                Pass::Edges { repeated } => {
                    self.derive(left, right, Relation::ComputedFrom, repeated);
                }
            }
        }
        Ok(())
    }

    fn use_old_value(&mut self, left: u32, pass: Pass) -> Result<(), Failed> {
        for variable in self.variables(left)? {
            let variable = self.memory.tokens.variables[variable as usize];
            self.read(variable, pass);
            if pass != Pass::Effect {
                let reach = self.memory.state[variable.name as usize];
                let item = &mut self.memory.items[variable.number as usize];
                item.itself_last = reach.absent_at_first;
            }
        }
        Ok(())
    }

    fn define_all(&mut self, variables: Range<u32>) {
        for variable in variables {
            self.define(self.memory.tokens.variables[variable as usize]);
        }
    }

    /// Defines variables as coming from sources.
    fn derive(&mut self, left: Range<u32>, right: Range<u32>, relation: Relation, distinct: bool) {
        let sources = self.memory.sources.len() as u32;
        for index in left.clone() {
            let variable = self.memory.tokens.variables[index as usize];
            self.meet(variable, relation, Pass::Edges { repeated: false });
            let item = &mut self.memory.items[variable.number as usize];
            item.linked |= !right.is_empty();
            match item.sources {
                NONE => item.sources = sources,
                _ => self.memory.further_sources.push((variable.number, sources)),
            }
            self.define(variable);
        }
        if !left.is_empty() {
            for index in right.clone() {
                let number = self.memory.tokens.variables[index as usize].number;
                self.memory.items[number as usize].linked = true;
            }
        }
        self.memory.sources.push(Sources {
            variables: right,
            distinct,
        });
    }

    /// An `if`: alternatives that begin with the state it was met in, and the rest of its children
    /// one after the other. What each of them leaves behind holds afterwards.
    fn alternatives(&mut self, node: u32, has_else: bool, pass: Pass) -> Result<(), Failed> {
        let (tree, classes) = (self.tree, self.classes);
        let class = |child: u32| classes.class(&tree.nodes[child as usize]);
        let mut past_first = false;
        let mut has_else = has_else;
        let mut branches = 1;
        let mut reached = Vec::new();
        let start = self.open_scope();
        for child in tree.children(node) {
            has_else |= class(child).has_else;
            past_first |= classes.rest_are_alternatives && class(child).alternative;
            if past_first || class(child).alternative {
                self.evaluate(child, pass)?;
                self.take_back(start, &mut reached);
                branches += 1;
            }
        }
        for child in tree.children(node) {
            if class(child).alternative {
                if classes.rest_are_alternatives {
                    break;
                }
                continue;
            }
            self.evaluate(child, pass)?;
        }
        self.take_back(start, &mut reached);
        branches += usize::from(classes.keeps_state || !has_else);
        self.memory.open_scopes -= 1;
        // By name what the branches that changed it reached; the others leave it unchanged.
        reached.sort_by_key(|&(name, _)| name);
        for changed in reached.chunk_by(|a, b| a.0 == b.0) {
            let (name, mut joined) = changed[0];
            let before = self.memory.state[name as usize];
            let unchanged = (changed.len() < branches).then_some(before);
            for reach in changed[1..]
                .iter()
                .map(|(_, reach)| *reach)
                .chain(unchanged)
            {
                joined = Reach {
                    set: self.union(joined.set, reach.set),
                    absent: joined.absent && reach.absent,
                    absent_at_first: joined.absent_at_first && reach.absent_at_first,
                };
            }
            self.change(name, joined);
        }
        Ok(())
    }

    fn for_loop(&mut self, node: u32, pass: Pass) -> Result<(), Failed> {
        let tree = self.tree;
        let mut children = tree.children(node);
        let mut init = None;
        for child in children.by_ref() {
            self.evaluate(child, pass)?;
            if self.classes.class(&tree.nodes[child as usize]).init {
                init = Some(child);
                break;
            }
        }
        let Some(init) = init else { return Ok(()) };
        // The first round saw the update as a part of the init.
        let update = self.classes.field(UPDATE);
        let update = update.and_then(|field| tree.child_in(init, field));
        let repeated = tree.nodes[init as usize].next;
        self.repeat(pass, update, |flow, pass| {
            for child in tree.siblings_from(repeated, node) {
                flow.evaluate(child, pass)?;
            }
            Ok(())
        })
    }

    /// A body twice; the second time behind an update, if there is one. It must be the last thing
    /// that was evaluated before.
    fn repeat(
        &mut self,
        pass: Pass,
        update: Option<u32>,
        mut body: impl FnMut(&mut Self, Pass) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        if pass == Pass::Effect {
            return body(self, pass);
        }
        let pass = Pass::Edges { repeated: true };
        let start = self.open_scope();
        body(self, Pass::Effect)?;
        let left_behind = self.changes(start);
        if let Some(update) = update {
            self.evaluate(update, pass)?;
        }
        let mut second = Vec::new();
        self.take_back(start, &mut second);
        for (name, reach) in second {
            let first = self.memory.state[name as usize];
            let both = Reach {
                set: self.union(first.set, reach.set),
                absent: first.absent || reach.absent,
                absent_at_first: first.absent_at_first,
            };
            self.change(name, both);
        }
        body(self, pass)?;
        self.take_back(start, &mut Vec::new());
        self.memory.open_scopes -= 1;
        for (name, reach) in left_behind {
            self.change(name, reach);
        }
        Ok(())
    }

    fn change(&mut self, name: u32, reach: Reach) {
        let slot = &mut self.memory.state[name as usize];
        if self.memory.open_scopes > 0 {
            self.memory.trail.push((name, *slot));
        }
        *slot = reach;
    }

    /// Opens a scope: the length of the trail, for [`changes`](Self::changes) and
    /// [`take_back`](Self::take_back).
    fn open_scope(&mut self) -> usize {
        if self.memory.open_scopes == 0 {
            self.memory.trail.clear();
        }
        self.memory.open_scopes += 1;
        self.memory.trail.len()
    }

    /// The names that changed since, with what they have now.
    fn changes(&self, start: usize) -> Vec<(u32, Reach)> {
        let mut names: Vec<u32> = self.memory.trail[start..]
            .iter()
            .map(|(name, _)| *name)
            .collect();
        names.sort_unstable();
        names.dedup();
        let now = |name: u32| (name, self.memory.state[name as usize]);
        names.into_iter().map(now).collect()
    }

    /// Undoes the changes since, and puts them there.
    fn take_back(&mut self, start: usize, changes: &mut Vec<(u32, Reach)>) {
        changes.extend(self.changes(start));
        for (name, before) in self.memory.trail.drain(start..).rev() {
            self.memory.state[name as usize] = before;
        }
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        match (a, b) {
            (EMPTY, set) | (set, EMPTY) => set,
            _ if a == b => a,
            _ => {
                self.memory.unions.push((a, b));
                self.memory.linked_unions.push(false);
                (self.memory.items.len() + self.memory.unions.len()) as u32
            }
        }
    }

    /// Marks all numbers of a set as linked.
    fn link(&mut self, set: u32) {
        let mut left = vec![set];
        while let Some(set) = left.pop() {
            let Some(index) = (set as usize).checked_sub(1) else {
                continue;
            };
            match index.checked_sub(self.memory.items.len()) {
                None => self.memory.items[index].linked = true,
                Some(union) if !self.memory.linked_unions[union] => {
                    self.memory.linked_unions[union] = true;
                    left.extend([self.memory.unions[union].0, self.memory.unions[union].1]);
                }
                Some(_) => {}
            }
        }
    }

    /// Gives the edges, in the order of their variables in the text, with variables numbered: to
    /// `list` each list of parents once, and to `edge` what that made of it.
    fn normalise<T: Clone>(
        self,
        list: impl Fn(&[u32]) -> T,
        mut edge: impl FnMut(u32, Relation, &T),
    ) {
        self.memory
            .further_sources
            .sort_by_key(|&(number, _)| number);
        let memory = self.memory;
        let numbered = &mut memory.numbered;
        numbered.clear(memory.state.len());
        let mut made: Vec<Option<T>> = vec![None; memory.sources.len()];
        for (number, item) in memory.items.iter().enumerate() {
            let Some(relation) = item.relation.filter(|_| item.linked) else {
                continue;
            };
            let further = memory
                .further_sources
                .partition_point(|&(other, _)| (other as usize) < number);
            let further = memory.further_sources[further..]
                .iter()
                .take_while(|&&(other, _)| other as usize == number)
                .map(|&(_, sources)| sources);
            let first = (item.sources != NONE).then_some(item.sources);
            let shared = match first {
                Some(first) if !item.itself && further.clone().next().is_none() => {
                    Some(&mut made[first as usize])
                }
                _ => None,
            };
            let parents = match shared {
                Some(Some(made)) => made.clone(),
                shared => {
                    let all = first.into_iter().chain(further);
                    let merged = item.itself || all.clone().count() > 1;
                    numbered.begin();
                    if item.itself && !item.itself_last {
                        numbered.push(item.name, merged);
                    }
                    for sources in all.map(|index| &memory.sources[index as usize]) {
                        let Range { start, end } = sources.variables;
                        for variable in &memory.tokens.variables[start as usize..end as usize] {
                            numbered.push(variable.name, merged || sources.distinct);
                        }
                    }
                    if item.itself && item.itself_last {
                        numbered.push(item.name, merged);
                    }
                    let parents = list(&numbered.parents);
                    if let Some(shared) = shared {
                        *shared = Some(parents.clone());
                    }
                    parents
                }
            };
            edge(numbered.number(item.name), relation, &parents);
        }
    }
}

/// Names as numbers.
#[derive(Default)]
struct Numbered {
    /// By name, or [`NONE`].
    numbers: Vec<u32>,
    count: u32,
    /// By name the list that named it last, from 1.
    named_in: Vec<u32>,
    lists: u32,
    /// The list.
    parents: Vec<u32>,
}

impl Numbered {
    /// Begins with this many names, none of which has a number.
    fn clear(&mut self, names: usize) {
        self.numbers.clear();
        self.numbers.resize(names, NONE);
        self.count = 0;
        self.named_in.clear();
        self.named_in.resize(names, 0);
        self.lists = 0;
    }

    fn number(&mut self, name: u32) -> u32 {
        let number = &mut self.numbers[name as usize];
        if *number == NONE {
            *number = self.count;
            self.count += 1;
        }
        *number
    }

    /// Begins a list of parents.
    fn begin(&mut self) {
        self.lists += 1;
        self.parents.clear();
    }

    /// Adds a parent, if `distinct` only when it is not yet there.
    fn push(&mut self, name: u32, distinct: bool) {
        let number = self.number(name);
        let named_in = &mut self.named_in[name as usize];
        if *named_in != self.lists || !distinct {
            self.parents.push(number);
        }
        *named_in = self.lists;
    }
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
