//! Lists that mostly have one element.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// A list whose only element needs no allocation: in a stream each event has one answer, and that one piece.
#[derive(Clone)]
pub enum Few<T> {
    /// One element.
    One(T),
    /// None, or several.
    Many(Vec<T>),
}

impl<T> Few<T> {
    /// The list of what `next` gives until it gives nothing.
    pub(super) fn collect<E>(mut next: impl FnMut() -> Result<Option<T>, E>) -> Result<Self, E> {
        let Some(first) = next()? else { return Ok(Self::default()) };
        let Some(second) = next()? else { return Ok(Self::One(first)) };
        let mut list = vec![first, second];
        while let Some(element) = next()? {
            list.push(element);
        }
        Ok(Self::Many(list))
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::One(element) => std::slice::from_ref(element),
            Self::Many(list) => list,
        }
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl<T> From<T> for Few<T> {
    fn from(element: T) -> Self {
        Self::One(element)
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self::Many(elements.into_iter().collect())
    }
}

impl<'f, T> IntoIterator for &'f Few<T> {
    type Item = &'f T;
    type IntoIter = std::slice::Iter<'f, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Few<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

impl<T: Serialize> Serialize for Few<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FewVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
            type Value = Few<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Few<T>, A::Error> {
                Few::collect(|| elements.next_element())
            }
        }
        deserializer.deserialize_seq(FewVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_length_are_read_and_written() {
        for text in ["[]", "[1]", "[1,2]", "[1,2,3]"] {
            let few: Few<u8> = serde_json::from_str(text).unwrap();
            assert_eq!(few.to_vec(), serde_json::from_str::<Vec<u8>>(text).unwrap());
            assert_eq!(serde_json::to_string(&few).unwrap(), text);
            assert_eq!(matches!(few, Few::One(_)), few.len() == 1);
        }
    }
}
