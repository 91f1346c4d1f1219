//! A backtracking matcher whose choices are those of CPython's `_sre`, with a limit of steps.

use super::TooManySteps;
use super::parse::{At, Kind, Node, UNLIMITED};
use super::set::{Case, Class, Set};

/// An instruction of a program.
#[derive(Clone, Debug)]
enum Instruction {
    /// One character of a set.
    Set(usize),
    At(At),
    /// Stores the position.
    Save(usize),
    Jump(usize),
    /// Goes on here, and if that fails, there.
    Split(usize),
    /// Characters of one set, several times.
    Characters {
        set: usize,
        least: u32,
        most: u32,
        kind: Kind,
    },
    /// Starts a loop whose registers are this one and the next.
    Begin(usize),
    /// The end of a turn of a loop, or its start. What follows the loop is two instructions on.
    Turn {
        register: usize,
        least: u32,
        most: u32,
        is_lazy: bool,
        body: usize,
    },
    /// Another turn of a lazy loop.
    Again {
        register: usize,
        body: usize,
    },
    /// A part that ends before this instruction, each turn of which is final.
    Possessive {
        least: u32,
        most: u32,
        end: usize,
    },
    /// A part that ends before this instruction, which is looked at and not taken.
    Look {
        is_negated: bool,
        back: usize,
        end: usize,
    },
    Reference {
        group: usize,
        case: Case,
    },
    /// Goes on here if a group has matched, else there.
    Condition {
        group: usize,
        otherwise: usize,
    },
    /// The end of a part that is matched on its own.
    Accept,
    Match,
}

/// A position that is not known.
const NOWHERE: usize = usize::MAX;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct Program {
    instructions: Vec<Instruction>,
    sets: Vec<Set>,
    /// Two for each group, and two for each loop.
    registers: usize,
}

impl Program {
    pub(super) fn new(node: &Node, groups: usize) -> Self {
        let mut program = Self {
            instructions: Vec::new(),
            sets: Vec::new(),
            registers: 2 * groups,
        };
        program.add(node);
        program.push(Instruction::Match);
        program
    }

    pub(super) fn len(&self) -> usize {
        self.instructions.len()
    }

    fn push(&mut self, instruction: Instruction) -> usize {
        self.instructions.push(instruction);
        self.instructions.len() - 1
    }

    fn set(&mut self, set: &Set) -> usize {
        let index = self.sets.iter().position(|other| other == set);
        index.unwrap_or_else(|| {
            self.sets.push(set.clone());
            self.sets.len() - 1
        })
    }

    fn add(&mut self, node: &Node) {
        match node {
            Node::Set(set) => {
                let set = self.set(set);
                self.push(Instruction::Set(set));
            }
            Node::At(at) => {
                self.push(Instruction::At(*at));
            }
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.add(node)),
            Node::Either(nodes) => self.add_either(nodes),
            Node::Group(None, node) => self.add(node),
            Node::Group(Some(group), node) => {
                self.push(Instruction::Save(2 * group));
                self.add(node);
                self.push(Instruction::Save(2 * group + 1));
            }
            Node::Repeat {
                node,
                least,
                most,
                kind,
            } => self.add_repeat(node, *least, *most, *kind),
            Node::Atomic(node) => self.add_possessive(node, 1, 1),
            Node::Look {
                node,
                is_negated,
                back,
            } => {
                let look = self.push(Instruction::Accept);
                self.add(node);
                self.push(Instruction::Accept);
                self.instructions[look] = Instruction::Look {
                    is_negated: *is_negated,
                    back: *back,
                    end: self.len(),
                };
            }
            Node::Reference { group, case, .. } => {
                self.push(Instruction::Reference {
                    group: *group,
                    case: *case,
                });
            }
            Node::Condition { group, yes, no } => {
                let condition = self.push(Instruction::Accept);
                self.add(yes);
                let jump = self.push(Instruction::Accept);
                self.instructions[condition] = Instruction::Condition {
                    group: *group,
                    otherwise: self.len(),
                };
                no.iter().for_each(|no| self.add(no));
                self.instructions[jump] = Instruction::Jump(self.len());
            }
        }
    }

    fn add_either(&mut self, nodes: &[Node]) {
        let mut jumps = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.add(node);
                continue;
            }
            let split = self.push(Instruction::Accept);
            self.add(node);
            jumps.push(self.push(Instruction::Accept));
            self.instructions[split] = Instruction::Split(self.len());
        }
        for jump in jumps {
            self.instructions[jump] = Instruction::Jump(self.len());
        }
    }

    fn add_repeat(&mut self, node: &Node, least: u32, most: u32, kind: Kind) {
        if let Some(set) = one_set(node) {
            let set = self.set(set);
            self.push(Instruction::Characters {
                set,
                least,
                most,
                kind,
            });
            return;
        }
        if kind == Kind::Possessive {
            self.add_possessive(node, least, most);
            return;
        }
        let register = self.registers;
        self.registers += 2;
        self.push(Instruction::Begin(register));
        let jump = self.push(Instruction::Accept);
        let body = self.len();
        self.add(node);
        let turn = self.push(Instruction::Turn {
            register,
            least,
            most,
            is_lazy: kind == Kind::Lazy,
            body,
        });
        self.push(Instruction::Again { register, body });
        self.instructions[jump] = Instruction::Jump(turn);
    }

    fn add_possessive(&mut self, node: &Node, least: u32, most: u32) {
        let possessive = self.push(Instruction::Accept);
        self.add(node);
        self.push(Instruction::Accept);
        self.instructions[possessive] = Instruction::Possessive {
            least,
            most,
            end: self.len(),
        };
    }
}

/// The set of a part that is one character, outside of groups with a number.
fn one_set(node: &Node) -> Option<&Set> {
    match node {
        Node::Set(set) => Some(set),
        Node::Group(None, node) => one_set(node),
        _ => None,
    }
}

/// The largest number of choices that are kept, in a text.
const MOST_FRAMES: usize = 1 << 21;

/// A choice that was made, and may be made in another way.
struct Frame {
    program: usize,
    position: usize,
    /// The number of changes of registers before it.
    changes: usize,
    rest: Rest,
}

/// What is left of a choice.
enum Rest {
    /// Nothing: the other way is the last one.
    Last,
    /// Characters that may be given back, down to this position.
    Fewer(usize),
    /// Characters of a set that may be taken in addition.
    More { set: usize, most: u32 },
}

/// A program that runs over a text.
pub(super) struct Machine<'p, 't> {
    program: &'p Program,
    text: &'t str,
    registers: Vec<usize>,
    changes: Vec<(usize, usize)>,
    frames: Vec<Frame>,
    steps: u64,
    /// The position at which a match must not end.
    forbidden: usize,
}

impl<'p, 't> Machine<'p, 't> {
    pub(super) fn new(program: &'p Program, text: &'t str, steps: u64) -> Self {
        Self {
            program,
            text,
            registers: vec![NOWHERE; program.registers],
            changes: Vec::new(),
            frames: Vec::new(),
            steps,
            forbidden: NOWHERE,
        }
    }

    /// Returns the end of a match that starts here; an empty one only where that is allowed.
    pub(super) fn match_at(
        &mut self,
        position: usize,
        may_be_empty: bool,
    ) -> Result<Option<usize>, TooManySteps> {
        self.registers.fill(NOWHERE);
        self.changes.clear();
        self.frames.clear();
        self.forbidden = if may_be_empty { NOWHERE } else { position };
        self.run(0, position)
    }

    pub(super) fn take_steps(&mut self, count: usize) -> Result<(), TooManySteps> {
        let left = self.steps.checked_sub(count as u64);
        self.steps = left.ok_or(TooManySteps)?;
        Ok(())
    }

    fn set_register(&mut self, register: usize, value: usize) {
        let before = std::mem::replace(&mut self.registers[register], value);
        self.changes.push((register, before));
    }

    fn undo(&mut self, changes: usize) {
        for (register, before) in self.changes.drain(changes..).rev() {
            self.registers[register] = before;
        }
    }

    fn choose(&mut self, program: usize, position: usize, rest: Rest) -> Result<(), TooManySteps> {
        if self.frames.len() + self.changes.len() >= MOST_FRAMES {
            return Err(TooManySteps);
        }
        self.frames.push(Frame {
            program,
            position,
            changes: self.changes.len(),
            rest,
        });
        Ok(())
    }

    /// Runs from an instruction to the end of its part, and returns the position there. Choices in the part are final
    /// after it.
    fn run(&mut self, start: usize, position: usize) -> Result<Option<usize>, TooManySteps> {
        let base = self.frames.len();
        let (mut at, mut position) = (start, position);
        loop {
            self.take_steps(1)?;
            let is_done = matches!(
                self.program.instructions[at],
                Instruction::Accept | Instruction::Match
            );
            let next = self.step(at, position)?;
            match next {
                Some((_, end)) if is_done => {
                    self.frames.truncate(base);
                    return Ok(Some(end));
                }
                Some(next) => (at, position) = next,
                None => match self.retry(base)? {
                    Some(next) => (at, position) = next,
                    None => return Ok(None),
                },
            }
        }
    }

    /// Goes back to the last choice after the first `base`, and takes its other way.
    fn retry(&mut self, base: usize) -> Result<Option<(usize, usize)>, TooManySteps> {
        while self.frames.len() > base {
            let Some(frame) = self.frames.pop() else {
                break;
            };
            self.undo(frame.changes);
            let Frame {
                program, position, ..
            } = frame;
            match frame.rest {
                Rest::Last => return Ok(Some((program, position))),
                Rest::Fewer(least) => {
                    let before = self.text[..position].chars().next_back();
                    let before = position - before.map_or(0, char::len_utf8);
                    if before > least {
                        self.choose(program, before, Rest::Fewer(least))?;
                    }
                    return Ok(Some((program, before)));
                }
                Rest::More { set, most } => {
                    let (after, taken) = self.characters(set, position, 1);
                    if taken == 1 {
                        if most > 1 {
                            let most = if most == UNLIMITED { most } else { most - 1 };
                            self.choose(program, after, Rest::More { set, most })?;
                        }
                        return Ok(Some((program, after)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The instruction and the position after an instruction, if it succeeds.
    fn step(&mut self, at: usize, position: usize) -> Result<Option<(usize, usize)>, TooManySteps> {
        let program = self.program;
        let went_on = Ok(Some((at + 1, position)));
        match &program.instructions[at] {
            Instruction::Set(set) => {
                let (after, taken) = self.characters(*set, position, 1);
                Ok((taken == 1).then_some((at + 1, after)))
            }
            Instruction::At(place) => {
                Ok(self.is_at(*place, position).then_some((at + 1, position)))
            }
            Instruction::Save(register) => {
                self.set_register(*register, position);
                went_on
            }
            Instruction::Jump(to) => Ok(Some((*to, position))),
            Instruction::Split(other) => {
                self.choose(*other, position, Rest::Last)?;
                went_on
            }
            Instruction::Characters {
                set,
                least,
                most,
                kind,
            } => self.repeat(at, position, *set, (*least, *most), *kind),
            Instruction::Begin(register) => {
                self.set_register(*register, NOWHERE);
                self.set_register(register + 1, NOWHERE);
                went_on
            }
            Instruction::Turn { .. } => self.turn(at, position),
            Instruction::Again { register, body } => {
                self.set_register(*register, self.registers[*register].wrapping_add(1));
                self.set_register(register + 1, position);
                Ok(Some((*body, position)))
            }
            Instruction::Possessive { least, most, end } => {
                let after = self.possessive(at + 1, position, *least, *most)?;
                Ok(after.map(|after| (*end, after)))
            }
            Instruction::Look {
                is_negated,
                back,
                end,
            } => {
                let matches = self.look(at + 1, position, *back, *is_negated)?;
                Ok((matches != *is_negated).then_some((*end, position)))
            }
            Instruction::Reference { group, case } => {
                let after = self.reference(*group, *case, position)?;
                Ok(after.map(|after| (at + 1, after)))
            }
            Instruction::Condition { group, otherwise } => Ok(Some(match self.group(*group) {
                Some(_) => (at + 1, position),
                None => (*otherwise, position),
            })),
            Instruction::Accept => went_on,
            Instruction::Match => Ok((position != self.forbidden).then_some((at, position))),
        }
    }

    /// Takes up to `most` characters of a set, and returns the position after them and their number.
    fn characters(&self, set: usize, position: usize, most: u32) -> (usize, u32) {
        let set = &self.program.sets[set];
        let mut taken = 0;
        let mut after = position;
        for char in self.text[position..].chars() {
            if taken == most || !set.has(char.into()) {
                break;
            }
            after += char.len_utf8();
            taken += 1;
        }
        (after, taken)
    }

    fn repeat(
        &mut self,
        at: usize,
        position: usize,
        set: usize,
        (least, most): (u32, u32),
        kind: Kind,
    ) -> Result<Option<(usize, usize)>, TooManySteps> {
        let (low, taken) = self.characters(set, position, least);
        self.take_steps(taken as usize)?;
        if taken < least {
            return Ok(None);
        }
        let more = if most == UNLIMITED {
            most
        } else {
            most - least
        };
        let after = match kind {
            Kind::Lazy => {
                if more > 0 {
                    self.choose(at + 1, low, Rest::More { set, most: more })?;
                }
                low
            }
            Kind::Greedy | Kind::Possessive => {
                let (high, taken) = self.characters(set, low, more);
                self.take_steps(taken as usize)?;
                if kind == Kind::Greedy && high > low {
                    self.choose(at + 1, high, Rest::Fewer(low))?;
                }
                high
            }
        };
        Ok(Some((at + 1, after)))
    }

    /// The start of a loop and the end of each of its turns, as in `MAX_UNTIL` and `MIN_UNTIL`.
    fn turn(&mut self, at: usize, position: usize) -> Result<Option<(usize, usize)>, TooManySteps> {
        let Instruction::Turn {
            register,
            least,
            most,
            is_lazy,
            body,
        } = self.program.instructions[at]
        else {
            return Ok(None);
        };
        // The registers of a new loop count from -1.
        let count = self.registers[register].wrapping_add(1);
        if count < least as usize {
            self.set_register(register, count);
            return Ok(Some((body, position)));
        }
        let may_go_on = (most == UNLIMITED || count < most as usize)
            && position != self.registers[register + 1];
        if !may_go_on {
            return Ok(Some((at + 2, position)));
        }
        if is_lazy {
            self.choose(at + 1, position, Rest::Last)?;
            return Ok(Some((at + 2, position)));
        }
        self.choose(at + 2, position, Rest::Last)?;
        self.set_register(register, count);
        self.set_register(register + 1, position);
        Ok(Some((body, position)))
    }

    fn possessive(
        &mut self,
        body: usize,
        position: usize,
        least: u32,
        most: u32,
    ) -> Result<Option<usize>, TooManySteps> {
        let (mut position, mut before) = (position, NOWHERE);
        let mut count = 0;
        while count < least || ((most == UNLIMITED || count < most) && position != before) {
            if count >= least {
                before = position;
            }
            let changes = self.changes.len();
            match self.run(body, position)? {
                Some(after) => position = after,
                None if count < least => return Ok(None),
                None => {
                    self.undo(changes);
                    break;
                }
            }
            count = count.saturating_add(1);
        }
        Ok(Some(position))
    }

    fn look(
        &mut self,
        body: usize,
        position: usize,
        back: usize,
        is_negated: bool,
    ) -> Result<bool, TooManySteps> {
        let mut start = position;
        for _ in 0..back {
            match self.text[..start].chars().next_back() {
                Some(char) => start -= char.len_utf8(),
                None => return Ok(false),
            }
        }
        self.take_steps(back)?;
        let changes = self.changes.len();
        let matches = self.run(body, start)?.is_some();
        if !matches || is_negated {
            self.undo(changes);
        }
        Ok(matches)
    }

    /// The text of a group that has matched.
    fn group(&self, group: usize) -> Option<&'t str> {
        let [start, end] = [0, 1].map(|side| self.registers[2 * group + side]);
        let is_there = start != NOWHERE && end != NOWHERE && start <= end;
        is_there.then(|| &self.text[start..end])
    }

    fn reference(
        &mut self,
        group: usize,
        case: Case,
        position: usize,
    ) -> Result<Option<usize>, TooManySteps> {
        let Some(group) = self.group(group) else {
            return Ok(None);
        };
        self.take_steps(group.len())?;
        let mut after = position;
        let mut found = self.text[position..].chars();
        for expected in group.chars() {
            match found.next() {
                Some(char) if are_equal(case, expected, char) => after += char.len_utf8(),
                _ => return Ok(None),
            }
        }
        Ok(Some(after))
    }

    fn is_at(&self, at: At, position: usize) -> bool {
        let (before, after) = self.text.split_at(position);
        match at {
            At::Start => before.is_empty(),
            At::LineStart => before.is_empty() || before.ends_with('\n'),
            At::End => after.is_empty(),
            At::LastEnd => after.is_empty() || after == "\n",
            At::LineEnd => after.is_empty() || after.starts_with('\n'),
            // Of an empty text, no position is one or the other.
            At::Border { .. } if self.text.is_empty() => false,
            At::Border {
                is_ascii,
                is_negated,
            } => {
                let is_word = |char: Option<char>| char.is_some_and(|char| is_word(char, is_ascii));
                let is_border =
                    is_word(before.chars().next_back()) != is_word(after.chars().next());
                is_border != is_negated
            }
        }
    }
}

fn is_word(char: char, is_ascii: bool) -> bool {
    if char.is_ascii() || is_ascii {
        return char.is_ascii_alphanumeric() || char == '_';
    }
    let ranges = Class::Word.ranges(false);
    let code = u32::from(char);
    let index = ranges.partition_point(|(_, last)| *last < code);
    ranges.get(index).is_some_and(|(first, _)| *first <= code)
}

fn are_equal(case: Case, expected: char, found: char) -> bool {
    // Unlike sets, references do not know characters with the same upper case.
    expected == found || case.lower(expected.into()) == case.lower(found.into())
}
