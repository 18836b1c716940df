//! The promises, each with the test that holds it.

/// What holds a promise.
#[derive(Clone, Copy)]
pub(super) enum By {
    /// A test by the end of its path: `lib` stands for the unit tests of the package.
    Test { package: &'static str, binary: &'static str, name: &'static str },
    /// Every fuzz target.
    Fuzzing,
    /// The audit.
    Audit,
}

/// One promise.
pub(super) struct Promise {
    pub(super) id: &'static str,
    pub(super) words: &'static str,
    pub(super) by: By,
}

const fn test(
    id: &'static str,
    words: &'static str,
    package: &'static str,
    binary: &'static str,
    name: &'static str,
) -> Promise {
    Promise { id, words, by: By::Test { package, binary, name } }
}

/// In the order of the page.
pub(super) const PROMISES: &[Promise] = &[
    test(
        "T2",
        "Any split, any merge tree and any order give the bytes of one run, whatever the number of threads.",
        "calipers",
        "laws",
        "every_registered_family_is_held_to_the_laws",
    ),
    test("T11", "Exact sums are rounded once, however ill-conditioned.", "calipers-core", "exact_sum", ""),
    test(
        "T16",
        "A state that is cut anywhere is refused with its place.",
        "calipers",
        "states",
        "a_state_cut_anywhere_is_refused_with_its_place",
    ),
    test(
        "T17",
        "Every single flipped bit of a state is noticed.",
        "calipers",
        "states",
        "every_single_flipped_bit_is_noticed",
    ),
    Promise {
        id: "T18",
        words: "No input of a parser, state, report, table, configuration or request makes it stop or hang.",
        by: By::Fuzzing,
    },
    test(
        "T20",
        "A file that asks for more memory than is allowed is refused before it is read.",
        "calipers-cli",
        "program",
        "trust::memory",
    ),
    test(
        "S6",
        "No small file of any packed format makes the program hold more than it is allowed and 256 MiB.",
        "calipers-cli",
        "program",
        "trust::bombs",
    ),
    test(
        "T21",
        "A run that is killed at any moment goes on to the same bytes.",
        "calipers-cli",
        "program",
        "runs::kills",
    ),
    test(
        "T36",
        "Malformed, slow and foreign requests are refused, and the page server lives.",
        "calipers-cli",
        "program",
        "output::serve",
    ),
    Promise {
        id: "T37",
        words: "Dependencies have allowed licences and one version each but those listed; unsafe code stands in \
                its files.",
        by: By::Audit,
    },
    test(
        "T40",
        "A state that was edited and signed again is refused, or as good as any other.",
        "calipers",
        "laws",
        "every_registered_family_is_held_to_the_laws",
    ),
    test(
        "T41",
        "No output is an input of its command, or another output.",
        "calipers-cli",
        "program",
        "trust::outputs",
    ),
    test(
        "T42",
        "No flipped bit of a per-unit parquet file gives other rows without an error.",
        "calipers-report",
        "lib",
        "row_68_no_flipped_bit_of_a_table_gives_other_rows_without_an_error",
    ),
    test(
        "T43",
        "A report that was changed, shortened or extended at any leaf does not pass verify.",
        "calipers-cli",
        "program",
        "r10_",
    ),
];
