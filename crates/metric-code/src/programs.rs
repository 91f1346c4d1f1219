//! Random programs, for tests.

use proptest::prelude::*;

use crate::language::Language;

/// The statements of a language that have dataflow rules: `A` and `B` stand for variables, `S` and
/// `T` for statements. Each ends its line.
pub(crate) struct Syntax {
    pub(crate) language: Language,
    /// A comment, on a line of its own.
    pub(crate) comment: &'static str,
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

pub(crate) const SYNTAXES: &[Syntax] = &[
    #[cfg(feature = "java")]
    Syntax {
        language: Language::JAVA,
        comment: "/* a note */ // and another",
        program: "void f(int p) { S }",
        statements: &[
            "int A = B;\n",
            "int A;\n",
            "A = B = C;\n",
            "A = B; B = A;\n",
            "A += B;\n",
            "A++;\n",
            "f(A, \"no name\", B);\n",
            "if (A > B) { S }\n",
            "if (A) { S } else { T }\n",
            "if (A) { S } else if (B) { T } else { S }\n",
            "while (A < B) { S\nT }\n",
            "for (int A = B; A < C; A++) { S }\n",
            "for (A = 0; A < C; A++) { S }\n",
            "for (int A : B) { S }\n",
            "do { S } while (A);\n",
        ],
    },
    #[cfg(feature = "python")]
    Syntax {
        language: Language::PYTHON,
        comment: "# a note",
        program: "def f(p, q=r):\n    S\n",
        statements: &[
            "A = B\n",
            "A, B = B, A\n",
            "A, B = f(C)\n",
            "A += B\n",
            "A: int = B\n",
            "A[B] = C\n",
            "f(A, B)\n",
            "A = [B for C in A]\n",
            "if A > B:\n    S\n",
            "if A:\n    S\nelse:\n    T\n",
            "if A:\n    S\nelif B:\n    T\nelse:\n    S\n",
            "while A < B:\n    S\n",
            "for A in B:\n    S\n",
            "for A, B in C:\n    S\nelse:\n    T\n",
        ],
    },
    #[cfg(feature = "c_sharp")]
    Syntax {
        language: Language::C_SHARP,
        comment: "/* a note */ // and another",
        program: "void f(int p) { S }",
        statements: BRACES,
    },
    #[cfg(feature = "c")]
    Syntax {
        language: Language::C,
        comment: "/* a note */ // and another",
        program: "void f(int p) { S }",
        statements: BRACES,
    },
    #[cfg(feature = "cpp")]
    Syntax {
        language: Language::CPP,
        comment: "/* a note */ // and another",
        program: "void f(int p) { S }",
        statements: BRACES,
    },
    #[cfg(feature = "javascript")]
    Syntax {
        language: Language::JAVASCRIPT,
        comment: "/* a note */ // and another",
        program: "function f(p) { S }",
        statements: &[
            "var A = B;\n",
            "let A;\n",
            "A += B;\n",
            "A++;\n",
            "f(A, `no name ${B}`);\n",
            "if (A > B) { S }\n",
            "if (A) { S } else { T }\n",
            "while (A < B) { S\nT }\n",
            "for (var A = B; A < C; A++) { S }\n",
            "for (let A = 0; A < C; A++) { S }\n",
            "[A, B] = [B, A];\n",
            "f((A = B) => { S });\n",
        ],
    },
    #[cfg(feature = "php")]
    Syntax {
        language: Language::PHP,
        comment: "/* a note */ // and another",
        program: "<?php function f($p) { S }",
        statements: &[
            "$A = $B;\n",
            "$A .= $B;\n",
            "$A++;\n",
            "f($A, $B, \"no name $C\");\n",
            "if ($A > $B) { S }\n",
            "if ($A) { S } else { T }\n",
            "if ($A) { S } elseif ($B) { T } else { S }\n",
            "while ($A < $B) { S\nT }\n",
            "for ($A = $B; $A < $C; $A++) { S }\n",
            "foreach ($A as $B) { S }\n",
        ],
    },
    #[cfg(feature = "go")]
    Syntax {
        language: Language::GO,
        comment: "/* a note */ // and another",
        program: "func f(p int) { S }",
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
            "for A := 0; A < B; A++ { S\nT }\n",
            "for A = B; A < C; A = A + B { S }\n",
            "for A := 0; A < B; { S }\n",
            "for A := range B { S }\n",
        ],
    },
    #[cfg(feature = "ruby")]
    Syntax {
        language: Language::RUBY,
        comment: "# a note",
        program: "def f(p, q: r)\nS\nend",
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
        comment: "/* a note */ // and another",
        program: "S",
        statements: &[
            "let A = B;\n",
            "A = B;\n",
            "A += B;\n",
            "f(A, B);\n",
            "if A > B { S }\n",
            "if A { S } else { T }\n",
            "match A { B => { S } _ => { T } }\n",
            "while A < B { S\nT }\n",
            "loop { S }\n",
            "for A in B { S }\n",
            "fn A(B: C) { S }\n",
        ],
    },
];

/// The parts of a random program: written with other names, it is the same program renamed.
pub(crate) fn choices() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 1..80)
}

/// A program in which four names recur.
pub(crate) fn write(syntax: &Syntax, choices: &[u8], names: [&str; 4]) -> String {
    let mut writer = Writer {
        statements: syntax.statements,
        choices: choices.iter().copied(),
        names,
    };
    writer.fill(syntax.program, 0)
}

struct Writer<'a, C> {
    statements: &'a [&'a str],
    choices: C,
    names: [&'a str; 4],
}

impl<C: Iterator<Item = u8>> Writer<'_, C> {
    fn fill(&mut self, template: &str, depth: usize) -> String {
        let mut text = String::new();
        let mut last = ' ';
        let mut letters = template.chars().peekable();
        while let Some(letter) = letters.next() {
            let next = letters.peek().copied().unwrap_or(' ');
            let alone = !last.is_alphanumeric() && !next.is_alphanumeric();
            match letter {
                'A'..='C' if alone => {
                    let choice = self.choices.next().unwrap_or(0);
                    text.push_str(self.names[usize::from(choice) % 4]);
                }
                'S' | 'T' if alone => {
                    // Statements are where their template has them, below each other.
                    let line = text.lines().last().unwrap_or_default();
                    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
                    let inner = self.statements(depth + 1);
                    let inner = inner.trim_end().replace('\n', &format!("\n{indent}"));
                    text.push_str(&inner);
                }
                letter => text.push(letter),
            }
            last = letter;
        }
        text
    }

    fn statements(&mut self, depth: usize) -> String {
        let simple = self
            .statements
            .iter()
            .filter(|one| !one.contains(" S") && !one.contains("\nS"));
        let simple = simple.count();
        let open = if depth < 4 {
            self.statements.len()
        } else {
            simple
        };
        let count = 1 + self.choices.next().unwrap_or(0) % 3;
        let statements = self.statements;
        let mut text = String::new();
        for _ in 0..count {
            let choice = self.choices.next().unwrap_or(0);
            text += &self.fill(statements[usize::from(choice) % open], depth);
        }
        text
    }
}
