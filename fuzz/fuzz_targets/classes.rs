//! Files of class names, by the first byte as JSON, TOML or text: an error, or a protocol that passes its checks.

#![no_main]

use std::fs;

use calipers::core::Protocol;
use calipers::inputs::Inputs;
use calipers::sources::segmentation::classes::classes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let ending = match bytes {
        [b'{', ..] | [b'[', b'"' | b']' | b'\n', ..] => "json",
        [b'[', ..] => "toml",
        _ => "txt",
    };
    let path = std::env::temp_dir().join(format!("calipers-fuzz-{}.{ending}", std::process::id()));
    fs::write(&path, bytes).expect("a folder for temporary files");
    let config = classes(&path.display().to_string(), &Inputs::default());
    fs::remove_file(&path).expect("it was written just now");
    if let Ok(protocol) = config.and_then(|config| config.resolve()) {
        assert!(protocol.check().is_ok(), "{protocol:?}");
    }
});
