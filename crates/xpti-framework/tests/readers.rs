//! Readers against writers, under every interleaving that loom can find
//! (`RUSTFLAGS="--cfg loom" cargo test -p solum-xpti-framework --release --test readers`).
//!
//! Under real threads the same is held by `libxptifw`'s `stress.cpp`.

#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use xpti_framework::callback_list::{Before, CallbackList};
use xpti_framework::{Keyed, Table};

/// With a cell that loom watches: reading it before its writer published it fails the model.
struct Entry {
    hash: u64,
    value: UnsafeCell<u64>,
}
// SAFETY: written before it is published, never after.
unsafe impl Sync for Entry {}

impl Entry {
    fn value(&self) -> u64 {
        // SAFETY: it is not written after its publication.
        self.value.with(|value| unsafe { *value })
    }
}

impl Keyed for Entry {
    fn hash(&self) -> u64 {
        self.hash
    }
}

fn entry(hash: u64) -> &'static Entry {
    let entry = Box::leak(Box::new(Entry {
        hash,
        value: UnsafeCell::new(0),
    }));
    // SAFETY: no other thread has it yet.
    entry.value.with_mut(|value| unsafe { *value = hash * 10 });
    entry
}

/// What was inserted before a reader was told of it is found, also while the table grows; what is found is whole.
#[test]
fn a_growing_table_loses_nothing() {
    loom::model(|| {
        let table = Arc::new(Table::<Entry>::new());
        let told = Arc::new(AtomicUsize::new(0));
        let reader = thread::spawn({
            let (table, told) = (table.clone(), told.clone());
            move || {
                let count = told.load(Ordering::Acquire) as u64;
                for hash in 1..=3 {
                    match table.find(hash, |_| true) {
                        Some(found) => assert_eq!(found.value(), hash * 10),
                        None => assert!(hash > count, "{hash} of {count}"),
                    }
                }
            }
        });
        // The first and the third insertion make new slots, the second does not.
        for hash in 1..=3 {
            table.insert(entry(hash));
            told.store(hash as usize, Ordering::Release);
        }
        let _ = reader.join();
        for hash in 1..=3 {
            assert!(table.find(hash, |_| true).is_some());
        }
    });
}

fn callback(number: usize) -> *mut () {
    core::ptr::without_provenance_mut(number)
}

/// A callback that stays is called once by each notification, whatever comes and goes beside it; nobody is called who was
/// never there.
#[test]
fn a_callback_that_stays_is_always_called() {
    loom::model(|| {
        let list = CallbackList::leaked();
        list.register(callback(1));
        let notifier = thread::spawn(move || {
            let mut called = [0; 5];
            list.for_each_active(|who| called[who.addr()] += 1);
            assert_eq!(called[0], 0, "an empty place");
            assert_eq!(called[1], 1);
            assert!(called[2..].iter().all(|times| *times <= 1));
            assert!(list.any());
        });
        assert_eq!(list.register(callback(2)), Before::Unknown);
        assert_eq!(list.unregister(callback(2)), Before::Active);
        assert_eq!(list.register(callback(3)), Before::Unknown);
        assert_eq!(list.register(callback(4)), Before::Unknown);
        let _ = notifier.join();
    });
}

/// After an unregistration that a notifier was told of, its callback is not called.
#[test]
fn a_callback_that_went_is_not_called() {
    loom::model(|| {
        let list = CallbackList::leaked();
        list.register(callback(1));
        list.register(callback(2));
        let gone = Arc::new(AtomicUsize::new(0));
        let notifier = thread::spawn({
            let gone = gone.clone();
            move || {
                let gone = gone.load(Ordering::Acquire);
                list.for_each_active(|who| assert!(gone == 0 || who.addr() == 1));
            }
        });
        list.unregister(callback(2));
        gone.store(1, Ordering::Release);
        let _ = notifier.join();
    });
}
