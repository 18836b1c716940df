//! The program as people run it, on files made on the spot: one module per topic, one file per idea.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

#[expect(unreachable_pub, reason = "the other modules share it")]
mod support;

mod compare {
    mod command;
    mod pairing;
}

mod explanation {
    mod bad_input;
    mod files;
    mod golden;
    mod real_data;
}

mod independent_set {
    mod bad_input;
    mod golden;
    mod graph_formats;
    mod real_data;
    mod shapes;
}

mod intervals {
    mod golden;
    mod limits;
    mod warnings;
}

mod output {
    mod page;
    mod plot;
    mod serve;
    mod tables;
}

mod robustness {
    mod bad_input;
    mod files;
    mod golden;
    mod models;
}

mod rung {
    mod bad_input;
    mod commands;
    mod files;
    mod real_data;
    mod reproduce;
}

mod runs {
    mod addresses;
    mod archives;
    mod buckets;
    mod columns;
    mod first_minutes;
    mod kills;
    mod long;
    mod pipeline;
    mod standard_input;
    mod verify;
}

mod segmentation {
    mod bad_input;
    mod bad_input_rows;
    mod files;
    mod fit;
    mod real_data;
    mod rgb_rules;
    mod volumes;
}

mod training {
    mod bad_input;
    mod extract;
    mod formats;
    mod large_tables;
    mod logs;
    mod real_data;
    mod server;
    mod sources;
}

mod trust {
    #[cfg(target_os = "linux")]
    mod bombs;
    mod memory;
    mod outputs;
    mod stored;
}
