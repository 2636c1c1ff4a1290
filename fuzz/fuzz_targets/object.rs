//! Objects and archives of them into memory, as from a damaged cache; start from objects of `solum compile --emit obj`.
//! All bytes are taken as they are, and as an archive of two members, so that objects are seeds of archives too.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = object_loader::load(data, &object_loader::mathematics);
    let Some((&cut, objects)) = data.split_last() else {
        return;
    };
    // The whole first, then as much of it as the last byte says.
    let part = &objects[..objects.len() * usize::from(cut) / 255];
    let mut archive = b"!<arch>\n".to_vec();
    for (name, object) in [("0.o/", objects), ("1.o/", part)] {
        let head = format!("{name:<48}{:<10}`\n", object.len());
        archive.extend_from_slice(head.as_bytes());
        archive.extend_from_slice(object);
        if object.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    let _ = object_loader::load(&archive, &object_loader::mathematics);
});
