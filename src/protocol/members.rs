//! What `#[derive(Read)]` is made of: objects whose members fill the fields of a struct.
//!
//! serde's derive makes about 2.4 kB of WebAssembly for each struct. Here whatever does not depend on the struct exists once.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// What an object is read as.
pub(crate) trait Members<'de>: Sized {
    /// Reads all members.
    fn read<A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error>;
}

/// Reads an object.
pub(crate) fn object<'de, T: Members<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct ObjectVisitor<T>(PhantomData<T>);
    impl<'de, T: Members<'de>> Visitor<'de> for ObjectVisitor<T> {
        type Value = T;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            T::read(&mut map)
        }
    }
    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

/// What members are read into, one by one.
pub(crate) trait Fill<'de, A: MapAccess<'de>> {
    /// Reads the value of the member with this index.
    fn fill(&mut self, index: usize, map: &mut A) -> Result<(), A::Error>;
}

/// Reads the members that `names` has into `place` and passes over the others. Those with a bit in `required` have to come.
pub(crate) fn each<'de, A: MapAccess<'de>>(
    map: &mut A,
    names: &'static [&'static str],
    required: u64,
    place: &mut dyn Fill<'de, A>,
) -> Result<(), A::Error> {
    let mut absent = required;
    while let Some(index) = map.next_key_seed(Names(names))? {
        match index {
            Some(index) => {
                place.fill(index, map)?;
                absent &= !(1 << index);
            }
            None => _ = map.next_value::<IgnoredAny>()?,
        }
    }
    if absent == 0 { Ok(()) } else { Err(missing(names, absent)) }
}

/// The first of `names` with a bit in `absent` did not come.
pub(crate) fn missing<E: Error>(names: &'static [&'static str], absent: u64) -> E {
    E::missing_field(names.get(absent.trailing_zeros() as usize).copied().unwrap_or_default())
}

/// Reads the value of a member into its field.
pub(crate) fn put<'de, T: Deserialize<'de>, A: MapAccess<'de>>(field: &mut T, map: &mut A) -> Result<(), A::Error> {
    *field = map.next_value()?;
    Ok(())
}

/// Reads the value of a member into its field, where null is none.
pub(crate) fn put_some<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    field: &mut Option<T>,
    map: &mut A,
) -> Result<(), A::Error> {
    *field = Some(map.next_value()?);
    Ok(())
}

/// Finds the index of a name.
struct Names(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Names {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Names {
    type Value = Option<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|known| *known == name))
    }
}
