"""What hypothesis remembers lies below `target/`, like everything else that is made."""

from hypothesis.configuration import set_hypothesis_home_dir

set_hypothesis_home_dir("target/hypothesis")
