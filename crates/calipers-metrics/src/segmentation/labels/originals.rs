//! Classes as configurations write them: by name or by id, listed or in a table.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::segmentation::labels::ClassId;

/// The most classes of one list.
pub const MOST_CLASSES: usize = <u16 as ClassId>::MOST;

/// A class as a configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassRef {
    /// By its id.
    Id(i64),
    /// By its name.
    Name(String),
}

impl From<&str> for ClassRef {
    /// A word of the command line: a whole number is an id, everything else a name.
    fn from(word: &str) -> Self {
        word.parse().map_or_else(|_| Self::Name(word.into()), Self::Id)
    }
}

impl fmt::Display for ClassRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Name(name) => write!(f, "{name:?}"),
        }
    }
}

impl<'de> Deserialize<'de> for ClassRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ClassRefVisitor)
    }
}

struct ClassRefVisitor;

impl Visitor<'_> for ClassRefVisitor {
    type Value = ClassRef;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name or the id of a class")
    }

    fn visit_i64<E: de::Error>(self, id: i64) -> Result<ClassRef, E> {
        Ok(ClassRef::Id(id))
    }

    fn visit_u64<E: de::Error>(self, id: u64) -> Result<ClassRef, E> {
        let id = i64::try_from(id).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(id), &self))?;
        Ok(ClassRef::Id(id))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<ClassRef, E> {
        Ok(ClassRef::Name(name.into()))
    }
}

/// The listed original classes by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Originals(pub BTreeMap<i64, String>);

impl Originals {
    /// Classes 0 to `count` - 1, named by their numbers.
    pub fn numbered(count: usize) -> Self {
        (0..count).map(|id| id.to_string()).collect()
    }
}

impl FromIterator<String> for Originals {
    /// The names of 0, 1, and so on.
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        Self((0..).zip(names).collect())
    }
}

impl<'de> Deserialize<'de> for Originals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OriginalsVisitor)
    }
}

struct OriginalsVisitor;

impl<'de> Visitor<'de> for OriginalsVisitor {
    type Value = Originals;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of class names, a table of ids and names, or how many classes there are")
    }

    fn visit_i64<E: de::Error>(self, count: i64) -> Result<Originals, E> {
        let allowed = usize::try_from(count).ok().filter(|count| (1..=MOST_CLASSES).contains(count));
        allowed.map(Originals::numbered).ok_or_else(|| {
            E::custom(format_args!("{count} classes are not possible, only 1 to {MOST_CLASSES}"))
        })
    }

    fn visit_u64<E: de::Error>(self, count: u64) -> Result<Originals, E> {
        self.visit_i64(i64::try_from(count).unwrap_or(i64::MAX))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Originals, A::Error> {
        let mut listed = Vec::new();
        while let Some(name) = names.next_element()? {
            listed.push(name);
        }
        Ok(listed.into_iter().collect())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Originals, A::Error> {
        let mut originals = BTreeMap::new();
        while let Some((key, name)) = table.next_entry::<String, String>()? {
            let id = key.parse::<i64>().map_err(|_| {
                de::Error::custom(format_args!("`{key}` is no class id, which is a whole number"))
            })?;
            if originals.insert(id, name).is_some() {
                return Err(de::Error::custom(format_args!("class id {id} is listed twice")));
            }
        }
        Ok(Originals(originals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'de, T: Deserialize<'de>>(json: &'de str) -> Result<T, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn originals_are_a_list_a_table_or_a_number() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Originals>();
        assert_eq!(read(r#"["sky", "road"]"#), Ok(names("sky road")));
        assert_eq!(read("3"), Ok(names("0 1 2")));
        let sparse = [(-1, "licence plate".to_owned()), (7, "road".to_owned())];
        assert_eq!(read(r#"{"7": "road", "-1": "licence plate"}"#), Ok(Originals(sparse.into())));
    }

    #[test]
    fn ids_that_are_no_numbers_or_come_twice_are_refused_by_name() {
        for (json, word) in [
            (r#"{"road": "7"}"#, "`road`"),
            (r#"{"7": "road", "07": "street"}"#, "id 7 is listed twice"),
            ("0", "0 classes"),
            ("65535", "1 to 65534"),
            ("-3", "-3 classes"),
            ("1.5", "a list of class names"),
        ] {
            let message = read::<Originals>(json).unwrap_err();
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn a_number_is_an_id_and_a_word_a_name() {
        assert_eq!(read("7"), Ok(ClassRef::Id(7)));
        assert_eq!(read(r#""7""#), Ok(ClassRef::Name("7".into())), "in a file the quotes decide");
        assert_eq!(ClassRef::from("-1"), ClassRef::Id(-1));
        assert_eq!(ClassRef::from("road"), ClassRef::Name("road".into()));
        assert!(read::<ClassRef>("18446744073709551615").is_err());
        assert!(read::<ClassRef>("true").unwrap_err().contains("the name or the id of a class"));
    }
}
