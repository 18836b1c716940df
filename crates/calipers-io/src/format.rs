//! The format tables: which formats each kind of data has, and how a file says that it is of one.
//!
//! Every kind has one table of the same shape: `image::FORMATS`, `array::FORMATS`, `graph::FORMATS`,
//! `score::FORMATS`, `history::FORMATS`. A format is a file with its reader and a line in the table.
//!
//! **Architecture invariant:** nobody else decides by the ending or the first bytes of a file.

use std::fmt;

/// One line of a format table.
pub struct Format<R: 'static> {
    /// The format's name, as options take it and reports show it.
    pub name: &'static str,
    /// The file endings that mean this format, in lower case, after `.gz` and `.bz2` are taken off.
    pub endings: &'static [&'static str],
    /// Whether bytes begin as a file of this format does; none where the first bytes do not tell.
    pub magic: Option<fn(&[u8]) -> bool>,
    /// What the format gives, and the function that reads it.
    pub reader: R,
}

/// A line of a table: name, endings, magic, reader.
pub(crate) const fn line<R>(
    name: &'static str,
    endings: &'static [&'static str],
    magic: Option<fn(&[u8]) -> bool>,
    reader: R,
) -> Format<R> {
    Format { name, endings, magic, reader }
}

impl<R> Format<R> {
    /// The ending of a file name that means this format, as the table writes it. The name must be
    /// more than its ending, whose case does not matter; of several endings the longest counts.
    pub fn ending_of(&self, file_name: &str) -> Option<&'static str> {
        let found = self.endings.iter().filter(|ending| has_ending(file_name, ending));
        found.copied().max_by_key(|ending| ending.len())
    }

    /// Whether bytes begin as a file of this format, and of no other, does.
    pub fn begins(&self, bytes: &[u8]) -> bool {
        self.magic.is_some_and(|magic| magic(bytes))
    }
}

/// All formats of one kind.
pub struct Formats<R: 'static>(pub &'static [Format<R>]);

impl<R> Formats<R> {
    /// The formats, in the order in which they are listed.
    pub fn iter(&self) -> impl Iterator<Item = &'static Format<R>> + use<R> {
        self.0.iter()
    }

    /// The format that the ending of a file name means: of several endings the longest counts, of
    /// several formats with that ending the first.
    pub fn by_name(&self, file_name: &str) -> Option<&'static Format<R>> {
        let length = |format: &&'static Format<R>| format.ending_of(file_name).map_or(0, str::len);
        self.0.iter().rev().filter(|format| length(format) > 0).max_by_key(length)
    }

    /// The format that the first bytes of a file mean: the first one of the table whose magic fits.
    pub fn by_content(&self, bytes: &[u8]) -> Option<&'static Format<R>> {
        self.iter().find(|format| format.begins(bytes))
    }

    /// The format of this name.
    pub fn called(&self, name: &str) -> Option<&'static Format<R>> {
        self.iter().find(|format| format.name == name)
    }

    /// The endings of all formats.
    pub fn endings(&self) -> Vec<&'static str> {
        self.endings_where(|_| true)
    }

    /// The endings of the formats whose readers give what is wanted, each once.
    pub fn endings_where(&self, wanted: impl Fn(&R) -> bool) -> Vec<&'static str> {
        let mut endings = Vec::new();
        for ending in self.iter().filter(|format| wanted(&format.reader)).flat_map(|format| format.endings) {
            if !endings.contains(ending) {
                endings.push(*ending);
            }
        }
        endings
    }

    /// A file name without the ending that means one of these formats.
    pub fn stem<'a>(&self, file_name: &'a str) -> &'a str {
        let ending = self.by_name(file_name).and_then(|format| format.ending_of(file_name));
        &file_name[..file_name.len() - ending.map_or(0, str::len)]
    }
}

/// How many endings the formats have, for [`endings`].
pub(crate) const fn ending_count<R>(formats: &[Format<R>]) -> usize {
    let (mut line, mut count) = (0, 0);
    while line < formats.len() {
        count += formats[line].endings.len();
        line += 1;
    }
    count
}

/// The endings of all formats, for a line of another table that refers to this one.
pub(crate) const fn endings<R, const N: usize>(formats: &[Format<R>]) -> [&'static str; N] {
    let mut all = [""; N];
    let (mut line, mut place) = (0, 0);
    while line < formats.len() {
        let mut ending = 0;
        while ending < formats[line].endings.len() {
            all[place] = formats[line].endings[ending];
            (place, ending) = (place + 1, ending + 1);
        }
        line += 1;
    }
    all
}

/// What people have and nobody reads, and what to do instead.
const OTHERS: [(&[&str], &str); 9] = [
    (&[".gml"], "write it with networkx.write_graphml"),
    (&[".adjlist"], "write an edge list with networkx.write_edgelist(graph, file, data=False)"),
    (
        &[".mat"],
        "load it with scipy.io.loadmat and save the matrix with scipy.sparse.save_npz, or arrays as npz",
    ),
    (&[".jpg", ".jpeg", ".webp"], "pictures that lose detail change label ids: save label maps as png"),
    (&[".bmp"], "save it as png"),
    (&[".h5", ".hdf5"], "save the arrays with numpy.savez or as safetensors"),
    (&[".parquet"], "name the column whose rows are units: FILE.parquet:COLUMN, of graphs edge_index"),
    (&[".arrow", ".feather"], "save the table as parquet"),
    (&[".bin"], "a graph of DGL: save it with torch.save as Data of PyG, or its edges as npz"),
];

/// What to do with a file of a format that is not read; nothing where its name tells none.
pub fn instead_of(file_name: &str) -> Option<&'static str> {
    let is_of = |(endings, _): &&(&[&str], &str)| endings.iter().any(|ending| has_ending(file_name, ending));
    OTHERS.iter().find(is_of).map(|(_, advice)| *advice)
}

fn has_ending(file_name: &str, ending: &str) -> bool {
    let name = &file_name[file_name.rfind('/').map_or(0, |slash| slash + 1)..];
    let stem = name.len().checked_sub(ending.len()).filter(|stem| *stem > 0);
    stem.and_then(|stem| name.get(stem..)).is_some_and(|tail| tail.eq_ignore_ascii_case(ending))
}

impl<R> PartialEq for Format<R> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<R> Eq for Format<R> {}

impl<R> fmt::Debug for Format<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<R> fmt::Display for Format<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [Format<u8>; 3] = [
        line("list", &[".sol", ".opt.sol"], None, 1),
        line("cover", &[".vc"], Some(|bytes| bytes.starts_with(b"s ")), 2),
        line("also a list", &[".sol"], None, 3),
    ];
    static TABLE: Formats<u8> = Formats(&LINES);

    #[test]
    fn the_longest_ending_decides_whatever_its_case() {
        for (name, stem) in [
            ("C125-9.opt.sol", "C125-9"),
            ("C125-9.OPT.SOL", "C125-9"),
            ("a.b/c.sol", "a.b/c"),
            ("a.vc.sol", "a.vc"),
            ("a.b/.sol", "a.b/.sol"),
            ("sol", "sol"),
            ("größe.vc", "größe"),
            ("ö", "ö"),
        ] {
            assert_eq!(TABLE.stem(name), stem);
            assert_eq!(TABLE.by_name(name).is_some(), stem != name);
        }
        let reader = |name| TABLE.by_name(name).map(|format| format.reader);
        assert_eq!((reader("a.vc"), reader("a.sol")), (Some(2), Some(1)));
    }

    #[test]
    fn formats_that_are_not_read_have_an_advice() {
        assert!(instead_of("a/B.GML").unwrap().contains("graphml"));
        assert_eq!((instead_of("a.png"), instead_of(".mat")), (None, None));
    }

    #[test]
    fn formats_are_found_by_content_and_by_their_own_name() {
        assert_eq!(TABLE.by_content(b"s vc 1 0"), TABLE.called("cover"));
        assert_eq!((TABLE.by_content(b"1\n"), TABLE.called("graph")), (None, None));
        assert_eq!(TABLE.endings(), [".sol", ".opt.sol", ".vc"]);
        assert_eq!(TABLE.endings_where(|reader| *reader == 2), [".vc"]);
        assert_eq!(endings::<_, 4>(&LINES)[2..], [".vc", ".sol"]);
        assert_eq!(ending_count(&LINES), 4);
    }
}
