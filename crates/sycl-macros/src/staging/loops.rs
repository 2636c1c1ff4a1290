//! `for` loops: over ranges, and over the elements of slices and arrays.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, Pat, RangeLimits};

use super::part::indexed_range;
use super::scope::{Lowering, hidden, near};
use super::statement::Use;

/// Why a `for` loop cannot be staged.
const UNKNOWN_ITERATOR: &str = "`for` over this expression is not supported in kernels: loop over a range, `a..b`, or over a slice or an array, `x`, `x.iter()`, `x.iter_mut()`, `x.chunks(n)`, `x.chunks_exact(n)` or `x.windows(n)`, with `.zip(…)`, `.copied()` and `.enumerate()`; `.rev()` and `.step_by(n)` come last";

/// The order of the rounds.
#[derive(Default)]
struct Order<'e> {
    step: Option<&'e Expr>,
    reversed: bool,
    /// `.step_by(n).rev()`: the step is the range's, and not that of the way back.
    step_first: bool,
}

/// A sequence that gives a loop one item in each iteration.
struct Sequence {
    name: Ident,
    begin: TokenStream,
    element: Ident,
    copied: bool,
}

/// The items of a round.
enum Items {
    One(Ident),
    Index,
    Pair(Box<Items>, Box<Items>),
}

impl Lowering {
    /// `for` over a range or over slices, which may be reversed or have steps.
    pub(super) fn for_loop(&mut self, of: &ExprForLoop) -> TokenStream {
        let stage = self.stage.clone();
        let (mut over, mut order) = (&*of.expr, Order::default());
        let range = loop {
            match over {
                Expr::Paren(inner) => over = &inner.expr,
                Expr::Group(inner) => over = &inner.expr,
                Expr::MethodCall(call)
                    if call.method == "rev" && call.args.is_empty() && !order.reversed =>
                {
                    order.reversed = true;
                    over = &call.receiver;
                }
                Expr::MethodCall(call)
                    if call.method == "step_by" && call.args.len() == 1 && order.step.is_none() =>
                {
                    order.step = call.args.first();
                    order.step_first = order.reversed;
                    over = &call.receiver;
                }
                Expr::Range(range) => break range,
                other => return self.loop_over_slices(of, other, &order),
            }
        };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return self.refuse(
                range.span(),
                "a range without two ends in a kernel: give both, or write `loop`",
            );
        };
        let (start, end) = (self.value(start), self.value(end));
        let inclusive = matches!(range.limits, RangeLimits::Closed(_));
        let step = self.step(&order);
        let (handle, counter) = (self.name("for"), self.name("counter"));
        self.enter(of.label.as_ref(), &handle, false);
        let body = self.scoped(|this| {
            let bound = this.bind_pattern(&of.pat, &quote!(#counter));
            let body = this.block(&of.body, Use::Statement);
            quote!({ #bound #body })
        });
        self.targets.pop();
        let Order { reversed, .. } = order;
        let begin = match (&step, order.step_first) {
            (Some(_), true) => quote!(#stage.back_begin(__start, __end, __step, #inclusive)),
            (step, _) => {
                let step = given(step.as_ref().map(|_| quote!(__step)));
                quote!(#stage.for_begin(__start, __end, #step, #inclusive, #reversed))
            }
        };
        let step = step.map(|step| quote!(let __step = #step;));
        quote!({
            let (__start, __end) = (#start, #end);
            #step
            let (#handle, #counter) = #begin;
            let _ = #body;
            #handle.end(#stage)
        })
    }

    fn step(&mut self, order: &Order<'_>) -> Option<TokenStream> {
        Some(self.value(order.step?))
    }

    /// `for` over the elements and parts of slices and arrays.
    fn loop_over_slices(
        &mut self,
        of: &ExprForLoop,
        iterator: &Expr,
        order: &Order<'_>,
    ) -> TokenStream {
        let stage = self.stage.clone();
        let mut sequences = Vec::new();
        let items = match self.items(iterator, &mut sequences) {
            Ok(items) => items,
            Err(span) => return self.refuse(span, UNKNOWN_ITERATOR),
        };
        let step = given(self.step(order));
        let (handle, index) = (self.name("for"), self.name("index"));
        self.enter(of.label.as_ref(), &handle, false);
        let body = self.scoped(|this| {
            let bound = this.bind_items(&of.pat, &items, &index);
            let body = this.block(&of.body, Use::Statement);
            quote!({ #bound #body })
        });
        self.targets.pop();
        let (mut begins, mut elements, mut counts) =
            (TokenStream::new(), TokenStream::new(), Vec::new());
        for of in &sequences {
            let (name, begin, element) = (&of.name, &of.begin, &of.element);
            begins.extend(quote!(let #name = #begin;));
            counts.push(quote!(#name.count()));
            elements.extend(quote!(let #element = #stage.item_at(&#name, #index);));
            if of.copied {
                elements.extend(quote!(
                    let #element = #stage.read(#stage.deref(#element, |__v| *__v));
                ));
            }
        }
        let (reversed, step_first) = (order.reversed, order.step_first);
        quote!({
            #begins
            let (#handle, #index) =
                #stage.together_begin(&[#(#counts),*], #step, #reversed, #step_first);
            #elements
            let _ = #body;
            #handle.end(#stage)
        })
    }

    /// The items of an iterator, and the sequences that they come from; or the place that is not understood.
    fn items(&mut self, iterator: &Expr, into: &mut Vec<Sequence>) -> Result<Items, Span> {
        let stage = self.stage.clone();
        let call = match iterator {
            Expr::Paren(inner) => return self.items(&inner.expr, into),
            Expr::Group(inner) => return self.items(&inner.expr, into),
            Expr::MethodCall(call) => call,
            values => {
                let place = self.sequence_place(values, false);
                let v = hidden("__v", iterator.span());
                let begin = quote_spanned! { near(iterator.span())=>
                    #stage.elements(#place, false, |#v| #v)
                };
                return Ok(self.sequence(begin, into));
            }
        };
        let method = &call.method;
        let mut arguments = call.args.iter();
        let name = method.to_string();
        match (name.as_str(), arguments.next(), arguments.next()) {
            ("enumerate", None, None) => {
                let items = self.items(&call.receiver, into)?;
                Ok(Items::Pair(Box::new(Items::Index), Box::new(items)))
            }
            ("zip", Some(other), None) => {
                let items = self.items(&call.receiver, into)?;
                let other = self.items(other, into)?;
                Ok(Items::Pair(Box::new(items), Box::new(other)))
            }
            ("copied" | "cloned", None, None) => match self.items(&call.receiver, into)? {
                Items::One(element) => {
                    if let Some(last) = into.last_mut() {
                        last.copied = true;
                    }
                    Ok(Items::One(element))
                }
                _ => Err(method.span()),
            },
            ("iter" | "iter_mut", None, None) => {
                // `iter_mut` borrows the closure's parameter, which then has to be a reference.
                let place = self.sequence_place(&call.receiver, name == "iter_mut");
                let v = hidden("__v", iterator.span());
                let begin = quote_spanned! { near(iterator.span())=>
                    #stage.elements(#stage.by_reference(#place), true, |#v| #v.#method())
                };
                Ok(self.sequence(begin, into))
            }
            (
                "chunks" | "chunks_mut" | "chunks_exact" | "chunks_exact_mut" | "windows",
                Some(size),
                None,
            ) => {
                let place = self.sequence_place(&call.receiver, name.ends_with("_mut"));
                let size = self.value(size);
                let cut = match name.trim_end_matches("_mut") {
                    "chunks" => quote!(Chunks),
                    "chunks_exact" => quote!(Exact),
                    _ => quote!(Windows),
                };
                let v = hidden("__v", iterator.span());
                let begin = quote_spanned! { near(iterator.span())=>
                    #stage.parts(#stage.by_reference(#place), #size, ::sycl::kernel::Cut::#cut, |#v, __n| #v.#method(__n))
                };
                Ok(self.sequence(begin, into))
            }
            _ => Err(method.span()),
        }
    }

    fn sequence_place(&mut self, values: &Expr, writes: bool) -> TokenStream {
        match indexed_range(values) {
            Some((values, range)) => self.part(values, range, writes),
            None => self.place(values),
        }
    }

    fn sequence(&mut self, begin: TokenStream, into: &mut Vec<Sequence>) -> Items {
        let (name, element) = (self.name("sequence"), self.name("element"));
        into.push(Sequence {
            name,
            begin,
            element: element.clone(),
            copied: false,
        });
        Items::One(element)
    }

    /// Binds a pattern to the items of a round. Pairs are taken apart without making tuples of references.
    fn bind_items(&mut self, pattern: &Pat, items: &Items, index: &Ident) -> TokenStream {
        match (items, pattern) {
            (items, Pat::Paren(inner)) => self.bind_items(&inner.pat, items, index),
            (Items::Pair(left, right), Pat::Tuple(tuple))
                if tuple.elems.len() == 2
                    && !tuple.elems.iter().any(|of| matches!(of, Pat::Rest(_))) =>
            {
                let mut bound = self.bind_items(&tuple.elems[0], left, index);
                bound.extend(self.bind_items(&tuple.elems[1], right, index));
                bound
            }
            (items, pattern) => {
                let value = self.item_value(items, index);
                self.bind_pattern(pattern, &value)
            }
        }
    }

    fn item_value(&self, items: &Items, index: &Ident) -> TokenStream {
        let stage = &self.stage;
        match items {
            Items::One(element) => quote!(#element),
            Items::Index => quote!(#index),
            Items::Pair(left, right) => {
                let (left, right) = (self.item_value(left, index), self.item_value(right, index));
                quote!(#stage.tuple((#left, #right)))
            }
        }
    }
}

/// An optional expression as an expression.
fn given(value: Option<TokenStream>) -> TokenStream {
    match value {
        None => quote!(::core::option::Option::None),
        Some(value) => quote!(::core::option::Option::Some(#value)),
    }
}
