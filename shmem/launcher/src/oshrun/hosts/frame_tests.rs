use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Returns a frame of every kind that has fields of a kind of their own.
fn samples(rank: usize, text: &str, bytes: &[u8], yes: bool) -> Vec<Frame> {
    let left = |departure, phase| Left {
        rank,
        departure,
        phase,
    };
    let values = vec![(text.to_owned(), "value".to_owned()); 3];
    let name = OsString::from_vec(bytes.to_vec());
    vec![
        Frame::Hello {
            version: VERSION,
            host: text.to_owned(),
            nonce: [7; 16],
        },
        Frame::Welcome {
            version: VERSION,
            nonce: [1; 16],
            proof: [2; 32],
            patience: 5000,
        },
        Frame::Beat {},
        Frame::Start {
            start: Start {
                hosts: vec![0, 1, 1, 0],
                host: 1,
                kvsname: text.to_owned(),
                program: name.clone(),
                arguments: vec![name.clone(); 2],
                environment: vec![(name.clone(), name.clone())],
                given: vec![name.clone()],
                directory: name,
                bind: yes,
                label: !yes,
                lines: yes,
            },
        },
        Frame::Open {
            values: values.clone(),
            last: yes,
        },
        Frame::Entered { values, last: yes },
        Frame::Left {
            left: left(Departure::Exited(-3), Phase::Outside),
        },
        Frame::Left {
            left: left(Departure::Exited(0), Phase::Partly),
        },
        Frame::Departed {
            left: left(Departure::Killed(9), Phase::Inside),
            pid: 77,
            out_of_memory: yes,
        },
        Frame::Departed {
            left: left(Departure::Exited(0), Phase::Finalized),
            pid: 77,
            out_of_memory: yes,
        },
        Frame::Abort {
            rank,
            code: -1,
            message: yes.then(|| text.to_owned()),
        },
        Frame::Output {
            way: 1,
            bytes: bytes.to_vec(),
        },
    ]
}

#[test]
fn a_frame_begins_with_its_length() {
    let bytes = Frame::Taken { bytes: 0x0102_0304 }.encode();
    assert_eq!(bytes, [5, 0, 0, 0, 38, 4, 3, 2, 1]);
}

#[test]
fn what_is_too_long_is_refused_before_it_has_come() {
    let mut bytes = &[0, 0, 1, 0][..];
    let refused = Frame::decode(&mut bytes, LONGEST_GREETING);
    assert_eq!(refused, Err(Malformed::TooLong(65_536)));
    assert_eq!(Frame::decode(&mut bytes, LONGEST), Ok(None));
}

#[test]
fn fields_too_few_or_too_many_are_refused() {
    for wrong in [
        &[0, 0, 0, 0][..],
        &[1, 0, 0, 0, 99],
        &[2, 0, 0, 0, 4, 0],
        &[4, 0, 0, 0, 38, 1, 2, 3],
        // A text that ends behind the frame.
        &[7, 0, 0, 0, 31, 0, 0, 0, 0, 9, 0],
        // Neither yes nor no.
        &[6, 0, 0, 0, 12, 0, 0, 0, 0, 2],
    ] {
        let mut bytes = wrong;
        assert!(Frame::decode(&mut bytes, LONGEST).is_err(), "{wrong:?}");
    }
}

#[test]
fn values_are_split_and_all_arrive() {
    let values: Vec<Pair> = (0..3000)
        .map(|number| (format!("key-{number}"), "v".repeat(1000)))
        .collect();
    let parts = parts(values.clone());
    assert_eq!(parts.len(), 3);
    let last: Vec<bool> = parts.iter().map(|(_, last)| *last).collect();
    assert_eq!(last, [false, false, true]);
    let joined: Vec<Pair> = parts.into_iter().flat_map(|(part, _)| part).collect();
    assert_eq!(joined, values);
    assert_eq!(super::parts(Vec::new()), [(Vec::new(), true)]);
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        rank in 0_usize..100_000,
        text in "\\PC{0,20}",
        bytes in vec(any::<u8>(), 0..40),
        yes in any::<bool>(),
    ) {
        let frames = samples(rank, &text, &bytes, yes);
        let all: Vec<u8> = frames.iter().flat_map(Frame::encode).collect();
        let mut rest = &all[..];
        for frame in frames {
            prop_assert_eq!(Frame::decode(&mut rest, LONGEST).unwrap(), Some(frame));
        }
        prop_assert!(rest.is_empty());
        // Cut off anywhere, it is waited for.
        for end in 0..all.len().min(60) {
            let mut rest = &all[..end];
            while let Some(_frame) = Frame::decode(&mut rest, LONGEST).unwrap() {}
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in vec(any::<u8>(), 0..200), kind in 0_u8..45) {
        let mut rest = &bytes[..];
        while let Ok(Some(_)) = Frame::decode(&mut rest, LONGEST) {}
        // Any fields of a kind that there is.
        let mut frame = u32::try_from(bytes.len() + 1).unwrap().to_le_bytes().to_vec();
        frame.push(kind);
        frame.extend(&bytes);
        let _ = Frame::decode(&mut &frame[..], LONGEST);
    }

    #[test]
    fn a_changed_byte_is_read_without_panic(
        bytes in vec(any::<u8>(), 0..20),
        at in any::<prop::sample::Index>(),
        to in any::<u8>(),
    ) {
        for frame in samples(3, "text", &bytes, true) {
            let mut encoded = frame.encode();
            let at = at.index(encoded.len());
            encoded[at] = to;
            let _ = Frame::decode(&mut &encoded[..], LONGEST);
        }
    }
}
