//! Parsing in bounded memory: the only module with `unsafe` code.
//!
//! tree-sitter allocates through hooks. Ours are in `hooks.c`. While a thread is in a [`Session`], they serve it from
//! an [`Arena`], which counts; all other threads, and this one at other times, are served by the functions that were
//! installed before.
//!
//! # Why a call is ended halfway
//!
//! tree-sitter asks after every hundred of its steps whether to go on, but one step may take
//! gigabytes and minutes: at the end of a text with errors, all ways through the stacks of the
//! parser are copied. So where the limit is reached a hook does not return: it calls `longjmp`.
//!
//! # Why this is sound
//!
//! - The hooks are installed once, before `main`, or before `dlopen` returns, when no other thread
//!   can be in tree-sitter: there is no race for the variables that hold them.
//! - Memory that was allocated outside of a session is freed outside of one, and so by the functions that
//!   allocated it. Memory of a session is freed in this session: what has it, [`Syntax`] and [`Cursor`],
//!   cannot leave its closure (they borrow the session) or its thread (a session is not `Sync`), and
//!   there is at most one session on a thread. Nothing else that has memory of tree-sitter is made or
//!   dropped in a session: the closures that run in it are those of this crate, and only this module
//!   and [`Kinds`](crate::parse::Kinds), whose functions allocate nothing, use tree-sitter.
//! - `longjmp` is called in C and leaves frames of C alone, those of the hook and of
//!   tree-sitter, for a `setjmp` in a function that has not returned: `metric_code_parse`. Rust functions
//!   that tree-sitter calls return before, and so do those that hooks call.
//! - After that the parser may be in any state. It is not used again, nor is anything that it
//!   allocated: the arena frees it all. tree-sitter has no global state and holds no locks. What is
//!   lost is the state of the grammar's scanner, at most a few kB, which comes from `malloc`.
//! - A hook may wait for the lock of the arenas that hold much. The arena keeps it until it is cleared at the
//!   end of its session, also after `longjmp`, and a session waits for no other one.
//! - A component that calls `tree_sitter::set_allocator` later replaces the hooks. Then there is no limit
//!   of memory, and all else holds: sessions free all that they allocate, unless a limit was reached.
//!
//! # Why it is the same everywhere
//!
//! An arena counts from 0 for each text and each text has a new parser. Counts are of requested
//! sizes, which are the same wherever pointers have 64 bits.

mod arena;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::ptr;

use tree_sitter::ffi::{
    TSInput, TSInputEncodingUTF8, TSNode, TSParseOptions, TSParseState, TSParser, TSPoint, TSTree,
};
use tree_sitter::{Language as Grammar, Node, Parser, Tree, TreeCursor};

use crate::stack::with_stack;
use arena::Arena;
pub(crate) use arena::Limit;

/// The parser reads a text in pieces of this many bytes.
const PIECE: usize = 1 << 10;

/// The work of going through a piece.
const READ: u64 = 32;

/// The functions that serve a thread, as declared in `hooks.c`.
#[repr(C)]
struct Hooks {
    /// An [`Arena`].
    arena: *mut c_void,
    allocate: unsafe extern "C" fn(*mut c_void, usize, bool) -> *mut u8,
    reallocate: unsafe extern "C" fn(*mut c_void, *mut u8, usize, bool) -> *mut u8,
    release: unsafe extern "C" fn(*mut c_void, *mut u8),
}

unsafe extern "C" fn allocate(arena: *mut c_void, bytes: usize, may_fail: bool) -> *mut u8 {
    // SAFETY: the arena of the session. No other function of it runs, as none calls this one.
    unsafe { (*arena.cast::<Arena>()).allocate(bytes, may_fail) }
}

unsafe extern "C" fn reallocate(
    arena: *mut c_void,
    block: *mut u8,
    bytes: usize,
    may_fail: bool,
) -> *mut u8 {
    // SAFETY: as above; tree-sitter got the block from it.
    unsafe { (*arena.cast::<Arena>()).reallocate(block, bytes, may_fail) }
}

unsafe extern "C" fn release(arena: *mut c_void, block: *mut u8) {
    // SAFETY: as above.
    unsafe { (*arena.cast::<Arena>()).release(block) }
}

unsafe extern "C" {
    fn metric_code_serve(hooks: *const Hooks) -> *const Hooks;
    fn metric_code_parse(
        parser: *mut TSParser,
        input: TSInput,
        options: TSParseOptions,
        ended: *mut bool,
    ) -> *mut TSTree;
    fn metric_code_string(
        node: TSNode,
        look: unsafe extern "C" fn(*mut c_void, *const c_char),
        payload: *mut c_void,
    );
}

thread_local! {
    /// Kept for the next session, with its first chunk.
    static ARENA: Cell<Option<Box<Arena>>> = const { Cell::new(None) };
}

/// The time in which a thread has bounded memory for tree-sitter.
pub(crate) struct Session {
    hooks: Hooks,
    /// The memory of this thread.
    _thread: PhantomData<*const ()>,
}

impl Session {
    /// Runs something in a session.
    pub(crate) fn run<T>(limit: Limit, run: impl FnOnce(&Self) -> T) -> T {
        let mut arena = ARENA.take().unwrap_or_else(|| Box::new(Arena::new()));
        // SAFETY: no session has it.
        unsafe { arena.clear(limit) };
        let session = Self {
            hooks: Hooks {
                arena: Box::into_raw(arena).cast(),
                allocate,
                reallocate,
                release,
            },
            _thread: PhantomData,
        };
        // SAFETY: the hooks remain until `drop` removes them.
        let previous = unsafe { metric_code_serve(&raw const session.hooks) };
        // Blocks of two arenas would be mixed up.
        assert!(previous.is_null(), "a session in a session");
        run(&session)
    }

    /// Parses a text. There is no tree if that reached a limit.
    pub(crate) fn parse(&self, grammar: &Grammar, text: &str) -> Option<Syntax<'_>> {
        let mut parser = Parser::new();
        parser.set_language(grammar).ok()?;
        let parser = parser.into_raw();
        let mut input = Input {
            text: text.as_bytes(),
            arena: self.arena(),
            is_over: false,
        };
        let payload = (&raw mut input).cast::<c_void>();
        let source = TSInput {
            payload,
            read: Some(read),
            encoding: TSInputEncodingUTF8,
            decode: None,
        };
        let options = TSParseOptions {
            payload,
            progress_callback: Some(progress),
        };
        let mut ended = false;
        // SAFETY: the parser is a new one. The functions get what they expect as payload: the input,
        // which is borrowed for as long.
        let tree = unsafe { metric_code_parse(parser, source, options, &raw mut ended) };
        if ended {
            // The parser is lost.
            return None;
        }
        // SAFETY: the parser is whole, and nobody else has it or the tree.
        unsafe {
            drop(Parser::from_raw(parser));
            let syntax = (!tree.is_null()).then(|| Syntax {
                tree: Tree::from_raw(tree),
                session: PhantomData,
            });
            syntax.filter(|_| !input.is_over)
        }
    }

    fn arena(&self) -> *mut Arena {
        self.hooks.arena.cast()
    }

    /// Bytes that tree-sitter holds.
    pub(crate) fn held(&self) -> usize {
        // SAFETY: no function of the arena runs.
        unsafe { (*self.arena()).held() }
    }

    /// Units of work so far.
    #[cfg(test)]
    pub(crate) fn work(&self) -> u64 {
        // SAFETY: no function of the arena runs.
        unsafe { (*self.arena()).work() }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the thread is not served from the arena any more, and nothing that was allocated there
        // is left: it would have borrowed the session.
        unsafe {
            metric_code_serve(ptr::null());
            let mut arena = Box::from_raw(self.arena());
            arena.clear(Limit::NONE);
            ARENA.set(Some(arena));
        }
    }
}

/// A text that is parsed, and where the work is counted.
struct Input<'t> {
    text: &'t [u8],
    arena: *mut Arena,
    /// Whether the limit of work was reached in the middle of a step, for which the text ended there.
    is_over: bool,
}

unsafe extern "C" fn read(
    payload: *mut c_void,
    from: u32,
    _: TSPoint,
    bytes: *mut u32,
) -> *const c_char {
    // SAFETY: the payload is the input. No function of the arena runs now, as none calls this one.
    let piece = unsafe {
        let input = &mut *payload.cast::<Input<'_>>();
        let over = (*input.arena).spend(READ);
        // Past the limit the text ends: a step that would read on for long comes to an end, too.
        input.is_over |= over;
        if over {
            &[]
        } else {
            let from = (from as usize).min(input.text.len());
            input.text[from..].chunks(PIECE).next().unwrap_or_default()
        }
    };
    // SAFETY: of the caller.
    unsafe { *bytes = piece.len() as u32 };
    piece.as_ptr().cast()
}

unsafe extern "C" fn progress(state: *mut TSParseState) -> bool {
    // SAFETY: as above.
    unsafe {
        let input = &*(*state).payload.cast::<Input<'_>>();
        (*input.arena).steps()
    }
}

/// A syntax tree of tree-sitter in a session.
pub(crate) struct Syntax<'s> {
    tree: Tree,
    session: PhantomData<&'s Session>,
}

impl Syntax<'_> {
    pub(crate) fn has_error(&self) -> bool {
        self.tree.root_node().has_error()
    }

    /// The number of nodes that a cursor meets.
    pub(crate) fn count(&self) -> usize {
        self.tree.root_node().descendant_count()
    }

    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor {
            cursor: self.tree.walk(),
            session: PhantomData,
        }
    }

    /// Gives a function the tree as tree-sitter writes it. That recurses, on a stack of this many bytes if one is
    /// given.
    pub(crate) fn look_at_string(&self, stack: Option<usize>, look: impl FnOnce(&str) + Send) {
        let node = self.tree.root_node();
        match stack {
            Some(bytes) => with_stack(bytes, || look_at_string(node, look)),
            None => look_at_string(node, look),
        }
    }
}

fn look_at_string<F: FnOnce(&str)>(node: Node<'_>, look: F) {
    unsafe extern "C" fn call<F: FnOnce(&str)>(look: *mut c_void, string: *const c_char) {
        // SAFETY: the function below, and a string that ends with a 0.
        unsafe {
            if let Some(look) = (*look.cast::<Option<F>>()).take() {
                look(&CStr::from_ptr(string).to_string_lossy());
            }
        }
    }
    let mut look = Some(look);
    // SAFETY: a node of a tree that is still alive. Its string is allocated and freed in this call, in which no limit
    // holds.
    unsafe { metric_code_string(node.into_raw(), call::<F>, (&raw mut look).cast()) };
}

/// A node of a [`Syntax`], and the way there.
pub(crate) struct Cursor<'a> {
    cursor: TreeCursor<'a>,
    session: PhantomData<&'a Session>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn node(&self) -> CurrentNode<'a> {
        CurrentNode(self.cursor.node())
    }

    pub(crate) fn field_id(&self) -> Option<u16> {
        self.cursor.field_id().map(u16::from)
    }

    pub(crate) fn goto_first_child(&mut self) -> bool {
        self.cursor.goto_first_child()
    }

    pub(crate) fn goto_next_sibling(&mut self) -> bool {
        self.cursor.goto_next_sibling()
    }

    pub(crate) fn goto_parent(&mut self) -> bool {
        self.cursor.goto_parent()
    }
}

/// A node, without what would allocate for it.
pub(crate) struct CurrentNode<'a>(Node<'a>);

impl CurrentNode<'_> {
    pub(crate) fn kind_id(&self) -> u16 {
        self.0.kind_id()
    }

    pub(crate) fn start_byte(&self) -> usize {
        self.0.start_byte()
    }

    pub(crate) fn end_byte(&self) -> usize {
        self.0.end_byte()
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.0.is_missing()
    }

    pub(crate) fn is_extra(&self) -> bool {
        self.0.is_extra()
    }
}
