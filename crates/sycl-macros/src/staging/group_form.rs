//! The form of a kernel that runs in work-groups on the host.
//!
//! A work-item has its own copies of buffers and local memory there. Around each barrier and each operation of a group,
//! this form gives them to the group and takes them again. Both need the variable for themselves: a reference into it
//! that lives across the barrier does not compile, as it must not, because others write that memory meanwhile.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Block, Expr, FnArg, GenericParam, ItemFn, Local, Pat, Stmt, Type};

use super::options::Options;
use super::scope::hidden;

/// Methods by which the work-items of a group act together.
const TOGETHER: [&str; 14] = [
    "all",
    "any",
    "barrier",
    "broadcast",
    "exclusive_scan",
    "inclusive_scan",
    "reduce",
    "reduce_add",
    "reduce_max",
    "reduce_min",
    "shuffle",
    "shuffle_down",
    "shuffle_up",
    "shuffle_xor",
];

/// The meaning of a name.
enum Held {
    /// A slice that all work-items have, by the name of the shared one.
    Slice(Ident),
    /// Memory of the work-group.
    Local,
    /// Anything else: it hides variables of its name.
    Other,
}

struct Rewriter {
    scopes: Vec<Vec<(Ident, Held)>>,
    /// Some work-items act together here.
    meets: bool,
    /// A slice has no name where they do.
    is_hidden: bool,
}

/// Whether an expression calls `local`.
fn allocates(expression: &Expr) -> bool {
    let Expr::Call(call) = expression else {
        return false;
    };
    let Expr::Path(path) = &*call.func else {
        return false;
    };
    path.path
        .segments
        .last()
        .is_some_and(|last| last.ident == "local")
}

/// The names that a pattern binds.
fn bound(pattern: &Pat, names: &mut Vec<Ident>) {
    match pattern {
        Pat::Ident(ident) => {
            names.push(ident.ident.clone());
            if let Some((_, inner)) = &ident.subpat {
                bound(inner, names);
            }
        }
        Pat::Paren(inner) => bound(&inner.pat, names),
        Pat::Type(inner) => bound(&inner.pat, names),
        Pat::Reference(inner) => bound(&inner.pat, names),
        Pat::Guard(inner) => bound(&inner.pat, names),
        Pat::Or(or) => or.cases.iter().for_each(|case| bound(case, names)),
        Pat::Tuple(of) => of.elems.iter().for_each(|part| bound(part, names)),
        Pat::TupleStruct(of) => of.elems.iter().for_each(|part| bound(part, names)),
        Pat::Slice(of) => of.elems.iter().for_each(|part| bound(part, names)),
        Pat::Struct(of) => of.fields.iter().for_each(|field| bound(&field.pat, names)),
        _ => {}
    }
}

impl Rewriter {
    fn bind(&mut self, name: Ident, held: Held) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name, held));
        }
    }

    fn bind_others(&mut self, pattern: &Pat) {
        let mut names = Vec::new();
        bound(pattern, &mut names);
        for name in names {
            self.bind(name, Held::Other);
        }
    }

    fn scoped(&mut self, act: impl FnOnce(&mut Self)) {
        self.scopes.push(Vec::new());
        act(self);
        self.scopes.pop();
    }

    /// Statements before and after work-items act together.
    fn hooks(&mut self) -> (TokenStream, TokenStream) {
        self.meets = true;
        let (mut put, mut take) = (TokenStream::new(), TokenStream::new());
        let mut seen: Vec<String> = Vec::new();
        for (name, held) in self.scopes.iter().flatten().rev() {
            let text = name.to_string();
            let is_first = !seen.contains(&text);
            match held {
                Held::Slice(_) if !is_first => self.is_hidden = true,
                Held::Slice(shared) => {
                    put.extend(quote!(#shared.put(&*#name);));
                    take.extend(quote!(#shared.take(&mut *#name);));
                }
                Held::Local if is_first => {
                    put.extend(quote!(#name.put();));
                    take.extend(quote!(#name.take();));
                }
                Held::Local | Held::Other => {}
            }
            seen.push(text);
        }
        (put, take)
    }

    fn block(&mut self, block: &mut Block) {
        self.scoped(|this| {
            block
                .stmts
                .iter_mut()
                .for_each(|statement| this.statement(statement))
        });
    }

    fn statement(&mut self, statement: &mut Stmt) {
        match statement {
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(expression, _) => self.expression(expression),
            _ => {}
        }
    }

    fn local(&mut self, local: &mut Local) {
        let mut is_local = false;
        if let Some(init) = &mut local.init {
            is_local = allocates(&init.expr);
            self.expression(&mut init.expr);
            if let Some((_, other)) = &mut init.diverge {
                self.expression(other);
            }
        }
        match &local.pat {
            Pat::Ident(ident) if is_local && ident.mutability.is_some() => {
                self.bind(ident.ident.clone(), Held::Local);
            }
            pattern => self.bind_others(pattern),
        }
    }

    fn all<'e>(&mut self, expressions: impl IntoIterator<Item = &'e mut Expr>) {
        for expression in expressions {
            self.expression(expression);
        }
    }

    fn expression(&mut self, expression: &mut Expr) {
        match expression {
            Expr::Block(of) => self.block(&mut of.block),
            Expr::If(of) => self.scoped(|this| {
                this.expression(&mut of.cond);
                this.block(&mut of.then_branch);
                if let Some((_, other)) = &mut of.else_branch {
                    this.expression(other);
                }
            }),
            Expr::While(of) => self.scoped(|this| {
                this.expression(&mut of.cond);
                this.block(&mut of.body);
            }),
            Expr::Loop(of) => self.block(&mut of.body),
            Expr::ForLoop(of) => {
                self.expression(&mut of.expr);
                self.scoped(|this| {
                    this.bind_others(&of.pat);
                    this.block(&mut of.body);
                });
            }
            Expr::Match(of) => {
                self.expression(&mut of.expr);
                for arm in &mut of.arms {
                    self.scoped(|this| {
                        this.bind_others(&arm.pat);
                        this.expression(&mut arm.body);
                    });
                }
            }
            Expr::Let(of) => {
                self.expression(&mut of.expr);
                self.bind_others(&of.pat);
            }
            Expr::Closure(of) => self.scoped(|this| {
                of.inputs.iter().for_each(|input| this.bind_others(input));
                this.expression(&mut of.body);
            }),
            Expr::Paren(of) => self.expression(&mut of.expr),
            Expr::Group(of) => self.expression(&mut of.expr),
            Expr::Unary(of) => self.expression(&mut of.expr),
            Expr::Cast(of) => self.expression(&mut of.expr),
            Expr::Field(of) => self.expression(&mut of.base),
            Expr::Reference(of) => self.expression(&mut of.expr),
            Expr::Repeat(of) => self.expression(&mut of.expr),
            Expr::Binary(of) => self.all([&mut *of.left, &mut *of.right]),
            Expr::Assign(of) => self.all([&mut *of.left, &mut *of.right]),
            Expr::Index(of) => self.all([&mut *of.expr, &mut *of.index]),
            Expr::Range(of) => {
                self.all(of.start.as_deref_mut());
                self.all(of.end.as_deref_mut());
            }
            Expr::Return(of) => self.all(of.expr.as_deref_mut()),
            Expr::Break(of) => self.all(of.expr.as_deref_mut()),
            Expr::Tuple(of) => self.all(&mut of.elems),
            Expr::Array(of) => self.all(&mut of.elems),
            Expr::Struct(of) => {
                self.all(of.fields.iter_mut().map(|field| &mut field.expr));
                self.all(of.rest.as_deref_mut());
            }
            Expr::Call(of) => {
                self.all(&mut of.args);
                let is_barrier = matches!(&*of.func, Expr::Path(path)
                    if path.path.segments.last().is_some_and(|last| last.ident == "barrier"));
                if is_barrier && of.args.is_empty() {
                    *expression = self.together(expression, Vec::new());
                }
            }
            Expr::MethodCall(of) => {
                self.expression(&mut of.receiver);
                self.all(&mut of.args);
                if TOGETHER.contains(&of.method.to_string().as_str()) {
                    let mut arguments = Vec::new();
                    for (index, argument) in of.args.iter_mut().enumerate() {
                        let name = hidden(&format!("__together{index}"), of.method.span());
                        let value = std::mem::replace(argument, syn::parse_quote!(#name));
                        arguments.push(quote!(let #name = #value;));
                    }
                    *expression = self.together(expression, arguments);
                }
            }
            _ => {}
        }
    }

    /// A call between giving and taking; its arguments are computed before.
    fn together(&mut self, call: &Expr, arguments: Vec<TokenStream>) -> Expr {
        let (put, take) = self.hooks();
        syn::parse_quote!({
            #(#arguments)*
            #put
            ::sycl::kernel::given(true);
            let __met = #call;
            ::sycl::kernel::given(false);
            #take
            __met
        })
    }
}

/// The type of an argument that lives for `'h`.
fn argument(ty: &Type) -> Type {
    match ty {
        Type::Reference(reference) => {
            let mut reference = reference.clone();
            reference.lifetime = Some(syn::parse_quote!('h));
            Type::Reference(reference)
        }
        other => other.clone(),
    }
}

/// The element of `&mut [T]`.
fn written(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Reference(reference) if reference.mutability.is_some() => match &*reference.elem {
            Type::Slice(slice) => Some(&slice.elem),
            _ => None,
        },
        _ => None,
    }
}

/// The implementation of `GroupKernel` for a kernel, whose type is `marker`; nothing if it cannot run so.
pub(super) fn implementation(
    function: &ItemFn,
    marker: &Ident,
    options: &Options,
) -> Option<TokenStream> {
    let signature = &function.sig;
    let mut rewriter = Rewriter {
        scopes: vec![Vec::new()],
        meets: false,
        is_hidden: false,
    };
    let (mut values, mut types, mut shared) = (Vec::new(), Vec::new(), Vec::new());
    for (index, input) in signature.inputs.iter().enumerate() {
        let FnArg::Typed(typed) = input else {
            return None;
        };
        values.push(format_ident!("__value{index}"));
        types.push(argument(&typed.ty));
        if let Some(element) = written(&typed.ty) {
            let Pat::Ident(pattern) = &*typed.pat else {
                return None;
            };
            let name = hidden(&format!("__shared{index}"), pattern.ident.span());
            rewriter.bind(pattern.ident.clone(), Held::Slice(name.clone()));
            shared.push((index, name, element.clone()));
        } else {
            rewriter.bind_others(&typed.pat);
        }
    }
    let mut form = function.clone();
    rewriter.block(&mut form.block);
    if rewriter.is_hidden {
        return None;
    }
    form.attrs.clear();
    form.vis = syn::Visibility::Inherited;
    form.sig.ident = hidden("__group_form", signature.ident.span());
    for (_, name, element) in &shared {
        form.sig
            .inputs
            .push(syn::parse_quote!(#name: &::sycl::kernel::SharedSlice<'_, #element>));
    }
    let mut generics = signature.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(syn::parse_quote!('static));
        for bound in ["Copy", "Send", "Sync"] {
            let bound = format_ident!("{bound}");
            parameter
                .bounds
                .push(syn::parse_quote!(::core::marker::#bound));
        }
    }
    let names = signature
        .generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Type(of) => Some(&of.ident),
            GenericParam::Const(of) => Some(&of.ident),
            GenericParam::Lifetime(_) => None,
        });
    let called = &form.sig.ident;
    let called = match signature.generics.params.is_empty() {
        true => quote!(#called),
        false => quote!(#called::<#(#names),*>),
    };
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let sizes = options.host();
    let names: Vec<&Ident> = shared.iter().map(|(_, name, _)| name).collect();
    let sources: Vec<&Ident> = shared.iter().map(|(index, ..)| &values[*index]).collect();
    let copies: Vec<Ident> = shared
        .iter()
        .map(|(index, ..)| format_ident!("__copy{index}"))
        .collect();
    let passed = values.iter().enumerate().map(|(index, value)| {
        let copy = shared.iter().position(|(at, ..)| *at == index);
        match copy.and_then(|copy| copies.get(copy)) {
            Some(copy) => quote!(&mut #copy),
            // Images are values that can only be cloned.
            None => quote!(::core::clone::Clone::clone(&#value)),
        }
    });
    Some(quote! {
        impl #impl_generics ::sycl::kernel::GroupKernel for #marker #type_generics #where_clause {
            type Arguments<'h> = (#(#types,)*);
            fn run_groups(
                &self,
                __groups: ::sycl::kernel::HostGroups,
                __arguments: Self::Arguments<'_>,
            ) -> ::core::result::Result<(), &'static str> {
                #form
                #sizes
                let (#(#values,)*) = __arguments;
                #(let #names = ::sycl::kernel::SharedSlice::new(#sources);)*
                __groups.run(&|| {
                    #(let mut #copies = #names.copy();)*
                    #called(#(#passed,)* #(&#names),*);
                    #(#names.put(&#copies);)*
                });
                ::core::result::Result::Ok(())
            }
        }
    })
}
