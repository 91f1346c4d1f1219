use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::{Relation, edges, literal};
use crate::classes::Dialect;
use crate::language::Language;
use crate::parse::Tree;

/// How a language writes the statements that have dataflow rules: `A` and `B` stand for variables,
/// `S` and `T` for statements. Each ends its line.
struct Syntax {
    language: Language,
    /// Around everything.
    program: &'static str,
    statements: &'static [&'static str],
}

/// In which no statement stands alone.
const BRACES: &[&str] = &[
    "A = B;\n",
    "A = A + B * C;\n",
    "A += B;\n",
    "A++;\n",
    "A[B] = C;\n",
    "f(A, B);\n",
    "if (A > B) { S }\n",
    "if (A) { S } else { T }\n",
    "if (A) { S } else if (B) { T } else { S }\n",
    "while (A < B) { S }\n",
    "for (A = 0; A < B; A++) { S }\n",
];

const SYNTAXES: &[Syntax] = &[
    #[cfg(feature = "java")]
    Syntax {
        language: Language::JAVA,
        program: "void f(int x) { S }",
        statements: &[
            "int A = B;\n",
            "int A;\n",
            "A = B = C;\n",
            "A = B; B = A;\n",
            "A += B;\n",
            "A++;\n",
            "f(A, \"x\", B);\n",
            "if (A > B) { S }\n",
            "if (A) { S } else { T }\n",
            "if (A) { S } else if (B) { T } else { S }\n",
            "while (A < B) { S T }\n",
            "for (int A = B; A < C; A++) { S }\n",
            "for (A = 0; A < C; A++) { S }\n",
            "for (int A : B) { S }\n",
            "do { S } while (A);\n",
        ],
    },
    #[cfg(feature = "c_sharp")]
    Syntax {
        language: Language::C_SHARP,
        program: "void f(int x) { S }",
        statements: BRACES,
    },
    #[cfg(feature = "c")]
    Syntax {
        language: Language::C,
        program: "void f(int x) { S }",
        statements: BRACES,
    },
    #[cfg(feature = "cpp")]
    Syntax {
        language: Language::CPP,
        program: "void f(int x) { S }",
        statements: BRACES,
    },
    #[cfg(feature = "javascript")]
    Syntax {
        language: Language::JAVASCRIPT,
        program: "function f(x) { S }",
        statements: &[
            "var A = B;\n",
            "let A;\n",
            "A += B;\n",
            "A++;\n",
            "f(A, `x${B}`);\n",
            "if (A > B) { S }\n",
            "if (A) { S } else { T }\n",
            "while (A < B) { S T }\n",
            "for (var A = B; A < C; A++) { S }\n",
            "for (let A = 0; A < C; A++) { S }\n",
            "[A, B] = [B, A];\n",
            "f((A = B) => { S });\n",
        ],
    },
    #[cfg(feature = "php")]
    Syntax {
        language: Language::PHP,
        program: "<?php function f($x) { S }",
        statements: &[
            "$A = $B;\n",
            "$A .= $B;\n",
            "$A++;\n",
            "f($A, $B, \"x $C\");\n",
            "if ($A > $B) { S }\n",
            "if ($A) { S } else { T }\n",
            "if ($A) { S } elseif ($B) { T } else { S }\n",
            "while ($A < $B) { S T }\n",
            "for ($A = $B; $A < $C; $A++) { S }\n",
            "foreach ($A as $B) { S }\n",
        ],
    },
    #[cfg(feature = "go")]
    Syntax {
        language: Language::GO,
        program: "func f(x int) { S }",
        statements: &[
            "var A = B\n",
            "var A, B int = B, C\n",
            "A = B\n",
            "A, B = B, A\n",
            "A++\n",
            "A := B\n",
            "f(A, B)\n",
            "if A > B { S }\n",
            "if A { S } else { T }\n",
            "if A { S } else if B { T }\n",
            "for A < B { S }\n",
            "for A := 0; A < B; A++ { S T }\n",
            "for A = B; A < C; A = A + B { S }\n",
            "for A := 0; A < B; { S }\n",
            "for A := range B { S }\n",
        ],
    },
    #[cfg(feature = "ruby")]
    Syntax {
        language: Language::RUBY,
        program: "def f(x, y: z)\nS\nend",
        statements: &[
            "A = B\n",
            "A, B = B, A\n",
            "A, B = f(C)\n",
            "A += B\n",
            "A ||= B\n",
            "f(A, B)\n",
            "if A > B\nS\nend\n",
            "if A\nS\nelse\nT\nend\n",
            "if A\nS\nelsif B\nT\nelse\nS\nend\n",
            "unless A\nS\nend\n",
            "case A\nwhen B\nS\nelse\nT\nend\n",
            "A = B while C\n",
            "until A > B\nS\nend\n",
            "for A in B do\nS\nT\nend\n",
        ],
    },
    #[cfg(feature = "rust")]
    Syntax {
        language: Language::RUST,
        program: "S",
        statements: &[
            "let A = B;\n",
            "A = B;\n",
            "A += B;\n",
            "f(A, B);\n",
            "if A > B { S }\n",
            "if A { S } else { T }\n",
            "match A { B => { S } _ => { T } }\n",
            "while A < B { S T }\n",
            "loop { S }\n",
            "for A in B { S }\n",
            "fn A(B: C) { S }\n",
        ],
    },
];

/// Random programs with names of which some recur.
fn program(syntax: &'static Syntax) -> impl Strategy<Value = String> {
    let choices = proptest::collection::vec(any::<u8>(), 1..80);
    choices.prop_map(move |choices| {
        let mut choices = choices.into_iter();
        let mut text = String::new();
        fill(syntax.program, syntax.statements, &mut choices, 0, &mut text);
        text
    })
}

fn fill(
    template: &str,
    statements: &[&str],
    choices: &mut impl Iterator<Item = u8>,
    depth: usize,
    text: &mut String,
) {
    let mut last = ' ';
    let mut letters = template.chars().peekable();
    while let Some(letter) = letters.next() {
        let alone = !last.is_alphanumeric() && !letters.peek().is_some_and(|c| c.is_alphanumeric());
        match letter {
            'A'..='C' if alone => {
                text.push(char::from(b"abcx"[usize::from(choices.next().unwrap_or(0)) % 4]));
            }
            'S' | 'T' if alone => {
                let count = choices.next().map_or(0, |choice| 1 + choice % 3);
                for _ in 0..count {
                    let simple = statements.iter().filter(|one| !one.contains('S')).count();
                    let open = if depth < 4 { statements.len() } else { simple };
                    let Some(choice) = choices.next() else { break };
                    let statement = statements[usize::from(choice) % open];
                    fill(statement, statements, choices, depth + 1, text);
                }
            }
            letter => text.push(letter),
        }
        last = letter;
    }
}

fn parse(language: Language, text: &str) -> Tree {
    let mut tree = Tree::default();
    tree.parse(language.kinds(), text, false);
    tree
}

#[test]
fn one_round_is_as_good_as_two() {
    for syntax in SYNTAXES {
        let classes = syntax.language.classes(Dialect::Original);
        let mut linked = 0;
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for _ in 0..300 {
            let text = program(syntax).new_tree(&mut runner).unwrap().current();
            let tree = parse(syntax.language, &text);
            let edges = edges(&tree, &text, classes);
            let expected = literal::edges(&tree, &text, classes);
            assert_eq!(edges, expected, "{:?}\n{text}", syntax.language);
            linked += edges.len();
        }
        assert!(linked > 500, "{:?}: {linked} edges", syntax.language);
    }
}

/// Edges as text: the variable, `<-` for an assignment and `:` else, its parents.
fn written(language: Language, dialect: Dialect, text: &str) -> String {
    let tree = parse(language, text);
    let edges = edges(&tree, text, language.classes(dialect));
    let edge = |edge: &super::Edge| {
        let relation = match edge.relation {
            Relation::ComesFrom => ":",
            Relation::ComputedFrom => "<-",
        };
        let parents: Vec<_> = edge.parents.iter().map(u32::to_string).collect();
        format!("{}{relation}{}", edge.variable, parents.join(","))
    };
    edges.iter().map(edge).collect::<Vec<_>>().join(" ")
}

#[cfg(feature = "python")]
#[test]
fn python_by_hand() {
    let check = |text: &str, expected: &str| {
        assert_eq!(written(Language::PYTHON, Dialect::Original, text), expected, "{text}");
    };
    // Nothing is linked.
    check("", "");
    check("f(x, y)", "");
    // x from 1, which is itself no use.
    check("x = 1", "1<-0 0:");
    // The second x is used where the first is defined.
    check("x = 1\ny = x", "1<-0 0: 2<-1 1:1");
    // Pairs where both sides are as many: x from 1, y from 2; a call is a name and a list.
    check("x, y = 1, 2", "1<-0 3<-2 0: 2:");
    check("x, y = f(z)", "1<-0 3<-2 0: 2:");
    // Else each from all.
    check("x, y = f(z), 1, 2", "4<-0,1,2,3 5<-0,1,2,3 0: 1: 2: 3:");
    // A name that the right side has twice stays twice, unless the statement runs twice.
    check("x = y + y", "1<-0,0 0: 0:0");
    check("while z:\n  x = y + y", "0:0 2<-1 1:1 1:1");
    // `x.y` has three children, and so has a string: taken apart, its parts are no tokens.
    check("a.b = \"x\"\nc = 1", "");
    // An annotation without value is no assignment.
    check("x: int\ny = x", "1<-0 0:");
}

#[cfg(feature = "java")]
#[test]
fn java_by_hand() {
    let check = |text: &str, expected: &str| {
        assert_eq!(written(Language::JAVA, Dialect::Original, text), expected, "{text}");
    };
    check("int x = y;", "1:0 0:");
    check("x = y;", "1<-0 0:");
    // The old value of x is not looked at.
    check("x += y;", "1<-0 0:");
    check("i++;", "0<-0");
    // y is x of before or of one of the branches: all three are linked.
    check("x = 1; if (c) { x = 2; } y = x;", "1<-0 0: 1<-2 2: 3<-1 1:1");
    // In the second round, the use of x sees its definition behind it.
    check("while (c) { y = x; x = 1; }", "0:0 2<-1 1:1 1<-3 3:");
}

#[test]
fn corrected_by_hand() {
    let check = |language: &str, text: &str, expected: &str| {
        // Features decide which languages are here.
        let Ok(language) = language.parse() else { return };
        assert_eq!(written(language, Dialect::Corrected, text), expected, "{language:?} {text}");
    };
    // x comes from itself and from y.
    check("java", "int f(int x) { x += y; }", "0: 0<-0,1 1:");
    check("python", "a.b = \"x\"", "1<-0 2<-0 0:");
    check("python", "(x := y)", "1<-0 0:");
    check("python", "def f(x: int = y): pass", "1:0 0:");
    check("rust", "fn f() { let x = y; }", "1:0 0:");
    check("rust", "fn f() { for x in y { z = x; } }", "1<-0 0:0 2<-1 1:1");
    check("go", "func f() { x := y }", "1<-0 0:");
    check("go", "func f() { x-- }", "0<-0");
    check("javascript", "x = y", "1<-0 0:");
    check("javascript", "for (const x of y) f(x)", "1<-0 0:0 2:2 1:1");
    check("c", "int f() { int x = y; }", "1:0 0:");
    check("c", "int f() { i++; }", "0<-0");
    check("cpp", "int f() { for (auto x : y) { g(x); } }", "1<-0 0:0 2:2 1:1");
    check("c_sharp", "int x = y;", "1:0 0:");
    check("c_sharp", "foreach (var x in y) { f(x); }", "1<-0 0:0 2:2 1:1");
    check("c_sharp", "--i;", "0<-0");
    check("ruby", "while c\n y = x\n x = 1\nend", "0:0 2<-1 1:1 1<-3 3:");
    check("typescript", "let x: number = y", "1:0 0:");
    check("php", "<?php $x = $y;", "1<-0 0:");
}

/// A name whose line holds a letter of two bytes is cut one to the right.
#[cfg(feature = "java")]
#[test]
fn columns_are_bytes_in_the_original() {
    let text = "s = \"é\"; x = y ;";
    // Behind it, x and y are both read as the blank to their right.
    assert_eq!(
        written(Language::JAVA, Dialect::Original, text),
        "1<-0 0: 2<-2 2:"
    );
    assert_eq!(
        written(Language::JAVA, Dialect::Corrected, text),
        "1<-0 0: 3<-2 2:"
    );
}

#[cfg(feature = "python")]
#[test]
fn a_tree_of_990_is_evaluated_and_one_of_991_is_not() {
    // module, statement, assignment, then one node for each bracket, and the name.
    let text = |brackets: usize| format!("x = {}y{}", "(".repeat(brackets), ")".repeat(brackets));
    let depth = |brackets| parse(Language::PYTHON, &text(brackets)).depth;
    assert_eq!((depth(986), depth(987)), (990, 991));
    let check = |brackets, expected: &str| {
        let text = text(brackets);
        let written = |dialect| written(Language::PYTHON, dialect, &text);
        assert_eq!(written(Dialect::Original), expected);
        assert_eq!(written(Dialect::Corrected), expected);
    };
    check(986, "1<-0 0:");
    check(987, "");
}
