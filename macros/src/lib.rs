//! Derives of the core.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Error, Result};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Expr, ExprLit, ExprPath, Field, Fields, GenericParam, Lit, LitStr, Meta, Token, Type,
};

/// Reads an object into a struct with named fields, in the place of serde's `Deserialize`, of which it makes a fraction of the
/// code: a wire has hundreds of structs, and the Worker's size is limited.
///
/// It obeys serde's attributes `default`, `rename`, `rename_all` (to camelCase), `alias` and `deserialize_with`. A list is no object, and of a member that is given
/// twice the last counts.
#[proc_macro_derive(Read, attributes(serde))]
pub fn read(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    implementation(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// A field, and what its attributes say.
struct Member<'a> {
    field: &'a syn::Ident,
    kind: &'a Type,
    names: Vec<String>,
    start: Start,
    reader: Option<ExprPath>,
}

/// What a field is until its member comes.
enum Start {
    /// What its type has as default, and so it stays.
    Default,
    /// What a function gives, and so it stays.
    From(ExprPath),
    /// What its type has as default, but the member has to come.
    Placeholder,
    /// Nothing: its type may have no default. The member has to come.
    Nothing,
}

fn implementation(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else { return Err(Error::new_spanned(input, "a struct is expected")) };
    let members = match &data.fields {
        Fields::Named(fields) => {
            let container = container(&input.attrs)?;
            fields.named.iter().map(|field| member(field, &container)).collect::<Result<Vec<_>>>()?
        }
        _ => return Err(Error::new_spanned(input, "named fields are expected")),
    };
    let names: Vec<&String> = members.iter().flat_map(|member| &member.names).collect();
    if names.len() > 64 {
        return Err(Error::new_spanned(input, "at most 64 names are expected"));
    }
    let required = required(&members);
    let is_in_place = !members.iter().any(|member| matches!(member.start, Start::Nothing));
    let body = if is_in_place { in_place(&members) } else { by_parts(input, &members) };
    let name = &input.ident;
    let (_, arguments, conditions) = input.generics.split_for_impl();
    let parameters = parameters(input);
    let fill = is_in_place.then(|| fill(input, name, &members));
    Ok(quote! {
        #fill

        impl<#parameters> crate::protocol::members::Members<'de> for #name #arguments #conditions {
            fn read<A: ::serde::de::MapAccess<'de>>(map: &mut A) -> ::core::result::Result<Self, A::Error> {
                const NAMES: &[&str] = &[#(#names),*];
                const REQUIRED: u64 = #required;
                #body
            }
        }

        impl<#parameters> ::serde::Deserialize<'de> for #name #arguments #conditions {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                crate::protocol::members::object(deserializer)
            }
        }
    })
}

/// A bit for each name whose member has to come.
fn required(members: &[Member<'_>]) -> u64 {
    let mut bits = 0;
    let mut index = 0;
    for member in members {
        if matches!(member.start, Start::Placeholder | Start::Nothing) {
            bits |= 1 << index;
        }
        index += member.names.len();
    }
    bits
}

/// The struct is made first, and its fields are filled.
fn in_place(members: &[Member<'_>]) -> TokenStream {
    let fields = members.iter().map(|member| member.field);
    let starts = members.iter().map(Member::start);
    quote! {
        let mut value = Self { #(#fields: #starts),* };
        crate::protocol::members::each(map, NAMES, REQUIRED, &mut value)?;
        Ok(value)
    }
}

/// The fields are gathered first, and the struct is made of them.
fn by_parts(input: &DeriveInput, members: &[Member<'_>]) -> TokenStream {
    let fields: Vec<_> = members.iter().map(|member| member.field).collect();
    let starts = members.iter().map(Member::start);
    let kinds = members.iter().map(|member| {
        let kind = member.kind;
        if matches!(member.start, Start::Nothing) { quote!(Option<#kind>) } else { quote!(#kind) }
    });
    let patterns = members.iter().map(|member| {
        let field = member.field;
        if matches!(member.start, Start::Nothing) { quote!(#field: Some(#field)) } else { quote!(#field) }
    });
    let (parameters, _, conditions) = input.generics.split_for_impl();
    let fill = fill(input, &format_ident!("Parts"), members);
    quote! {
        struct Parts #parameters #conditions { #(#fields: #kinds),* }
        #fill
        let mut parts = Parts { #(#fields: #starts),* };
        crate::protocol::members::each(map, NAMES, REQUIRED, &mut parts)?;
        let Parts { #(#patterns),* } = parts else { return Err(crate::protocol::members::missing(NAMES, REQUIRED)) };
        Ok(Self { #(#fields),* })
    }
}

/// How the fields of `name` are filled.
fn fill(input: &DeriveInput, name: &syn::Ident, members: &[Member<'_>]) -> TokenStream {
    let parameters = parameters(input);
    let (_, arguments, conditions) = input.generics.split_for_impl();
    let arms = arms(input, members);
    quote! {
        impl<#parameters A: ::serde::de::MapAccess<'de>> crate::protocol::members::Fill<'de, A> for #name #arguments #conditions {
            fn fill(&mut self, index: usize, map: &mut A) -> ::core::result::Result<(), A::Error> {
                match index { #arms }
            }
        }
    }
}

/// The parameters of an implementation, with the lifetime of what is read.
fn parameters(input: &DeriveInput) -> TokenStream {
    let lifetimes: Vec<_> = input.generics.lifetimes().map(|parameter| &parameter.lifetime).collect();
    let parameters = input.generics.params.iter().map(|parameter| match parameter {
        GenericParam::Type(parameter) => quote!(#parameter: ::serde::Deserialize<'de>),
        parameter => quote!(#parameter),
    });
    quote!('de: #(#lifetimes)+*, #(#parameters,)*)
}

/// For each name the reading of its value into the place of its field.
fn arms(input: &DeriveInput, members: &[Member<'_>]) -> TokenStream {
    let mut index = 0_usize;
    let mut arms = TokenStream::new();
    for member in members {
        let names = (index..index + member.names.len()).collect::<Vec<_>>();
        index += names.len();
        let field = member.field;
        let place = quote!(&mut self.#field);
        let is_part = matches!(member.start, Start::Nothing);
        let read = match &member.reader {
            None if is_part => quote!(crate::protocol::members::put_some(#place, map)),
            None => quote!(crate::protocol::members::put(#place, map)),
            Some(reader) => with(input, member, reader, &place),
        };
        arms.extend(quote!(#(#names)|* => #read,));
    }
    quote!(#arms _ => Ok(()))
}

/// The value is read by a function.
fn with(input: &DeriveInput, member: &Member<'_>, reader: &ExprPath, place: &TokenStream) -> TokenStream {
    let kind = member.kind;
    let value = if matches!(member.start, Start::Nothing) { quote!(Some(read.0)) } else { quote!(read.0) };
    let lifetimes: Vec<_> = input.generics.lifetimes().map(|parameter| &parameter.lifetime).collect();
    let wrapper = format_ident!("With");
    quote! {{
        struct #wrapper<#(#lifetimes),*>(#kind, #(::core::marker::PhantomData<&#lifetimes ()>),*);
        impl<'de: #(#lifetimes)+*, #(#lifetimes),*> ::serde::Deserialize<'de> for #wrapper<#(#lifetimes),*> {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                #reader(deserializer).map(|value| Self(value, #(::core::marker::PhantomData::<&#lifetimes ()>),*))
            }
        }
        map.next_value::<#wrapper<#(#lifetimes),*>>().map(|read| *#place = #value)
    }}
}

impl Member<'_> {
    fn start(&self) -> TokenStream {
        match &self.start {
            Start::Default | Start::Placeholder => quote!(::core::default::Default::default()),
            Start::From(path) => quote!(#path()),
            Start::Nothing => quote!(None),
        }
    }
}

/// What the attributes of the struct say about all fields.
#[derive(Default)]
struct Container {
    is_camel_case: bool,
    has_default: bool,
}

fn container(attributes: &[Attribute]) -> Result<Container> {
    let mut container = Container::default();
    for meta in serde(attributes)? {
        match &meta {
            Meta::Path(path) if path.is_ident("default") => container.has_default = true,
            Meta::NameValue(pair) if pair.path.is_ident("rename_all") && text(&pair.value)?.value() == "camelCase" => {
                container.is_camel_case = true;
            }
            // It is always what serde would be told.
            Meta::List(list) if list.path.is_ident("bound") => {}
            other => return Err(Error::new_spanned(other, "the attribute is not known")),
        }
    }
    Ok(container)
}

/// What the attributes for serde say.
fn serde(attributes: &[Attribute]) -> Result<Vec<Meta>> {
    let mut metas = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        metas.extend(attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?);
    }
    Ok(metas)
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name + letters.as_str()
    })
}

fn member<'a>(field: &'a Field, container: &Container) -> Result<Member<'a>> {
    let Some(ident) = &field.ident else { return Err(Error::new_spanned(field, "a name is expected")) };
    let mut name = ident.to_string().trim_start_matches("r#").to_owned();
    if container.is_camel_case {
        name = camel_case(&name);
    }
    let mut aliases = Vec::new();
    let mut default = container.has_default.then_some(Start::Default);
    let mut reader = None;
    for meta in serde(&field.attrs)? {
        match &meta {
            Meta::Path(path) if path.is_ident("borrow") => {}
            Meta::Path(path) if path.is_ident("default") => default = Some(Start::Default),
            Meta::NameValue(pair) if pair.path.is_ident("default") => {
                default = Some(Start::From(text(&pair.value)?.parse()?));
            }
            // Only `rename(serialize = …)` is written so.
            Meta::List(list) if list.path.is_ident("rename") => {}
            Meta::NameValue(pair) if pair.path.is_ident("rename") => name = text(&pair.value)?.value(),
            Meta::NameValue(pair) if pair.path.is_ident("alias") => aliases.push(text(&pair.value)?.value()),
            Meta::NameValue(pair) if pair.path.is_ident("deserialize_with") => {
                reader = Some(text(&pair.value)?.parse()?);
            }
            Meta::NameValue(pair) if pair.path.is_ident("skip_serializing_if") => {}
            other => return Err(Error::new_spanned(other, "the attribute is not known")),
        }
    }
    let start = default.unwrap_or_else(|| start_of(&field.ty, reader.is_some()));
    if !aliases.is_empty() && matches!(start, Start::Placeholder | Start::Nothing) {
        return Err(Error::new_spanned(field, "a field with aliases has to have a default"));
    }
    let names = std::iter::once(name).chain(aliases).collect();
    Ok(Member { field: ident, kind: &field.ty, names, start, reader })
}

/// The start of a field without `default`.
fn start_of(kind: &Type, has_reader: bool) -> Start {
    /// Types that have a default, which costs nothing.
    const PLAIN: [&str; 8] = ["Text", "Vec", "String", "bool", "u32", "u64", "i64", "f64"];
    let Type::Path(path) = kind else { return Start::Nothing };
    match path.path.segments.last() {
        Some(last) if last.ident == "Option" && !has_reader => Start::Default,
        Some(last) if PLAIN.iter().any(|name| last.ident == name) => Start::Placeholder,
        _ => Start::Nothing,
    }
}

fn text(value: &Expr) -> Result<&LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text),
        Expr::Group(group) => text(&group.expr),
        other => Err(Error::new_spanned(other, "a string is expected")),
    }
}
