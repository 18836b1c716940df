//! Arrays of numbers, from npy, npz, safetensors and PyTorch files.

use calipers_core::{Error, Result};
