#![expect(unsafe_code, reason = "looks into lists")]

use super::*;
use proptest::prelude::*;

fn receive(context: u64, len: usize, wanted: Wanted) -> Receive {
    Receive {
        wanted,
        address: std::ptr::without_provenance_mut(4096 * context as usize),
        len,
        context,
    }
}

fn wanted(tag: u64, ignore: u64, source: Option<PeerIndex>) -> Wanted {
    Wanted {
        tag,
        ignore,
        source,
    }
}

fn post(matcher: &mut Tagged<u32>, context: u64, wanted: Wanted) -> Option<u32> {
    let early = matcher.post(receive(context, 8, wanted));
    early.map(|early| early.message)
}

fn arrive<M>(matcher: &mut Tagged<M>, tag: u64, source: Option<PeerIndex>) -> Option<u64> {
    matcher.arrive(tag, source, 8).map(|place| place.context)
}

#[test]
fn exact_and_masked_receives_go_in_their_order() {
    let mut matcher = Tagged::new((100, 3));
    assert_eq!(post(&mut matcher, 1, wanted(5, 0, Some(2))), None);
    assert_eq!(post(&mut matcher, 2, wanted(4, 3, None)), None);
    assert_eq!(post(&mut matcher, 3, Wanted::tag(5)), None);
    assert_eq!(post(&mut matcher, 4, wanted(5, 0, Some(2))), None);
    assert_eq!(arrive(&mut matcher, 8, Some(2)), None, "no such tag");
    assert_eq!(
        arrive(&mut matcher, 5, None),
        Some(2),
        "the first for anybody"
    );
    assert_eq!(
        arrive(&mut matcher, 5, Some(2)),
        Some(1),
        "the first of all"
    );
    assert_eq!(
        arrive(&mut matcher, 5, Some(2)),
        Some(3),
        "before another of its source"
    );
    assert_eq!(arrive(&mut matcher, 5, Some(3)), None);
    assert_eq!(arrive(&mut matcher, 5, Some(2)), Some(4));
    assert!(matcher.exact.is_empty() && matcher.receives.all().count() == 0);
    assert!(matcher.masked.is_empty() && matcher.special == 0);
}

#[test]
fn a_place_has_the_bytes_that_fit() {
    let mut matcher = Tagged::<u32>::new((100, 3));
    assert!(matcher.post(receive(1, 8, Wanted::tag(0))).is_none());
    let place = matcher.arrive(0, None, 9).unwrap();
    assert_eq!((place.len, place.offset, place.is_last), (8, 0, true));
    assert_eq!(place.address.addr(), 4096);
}

#[test]
fn early_messages_are_bounded_and_claimed_ones_count() {
    let mut matcher = Tagged::new((30, 3));
    for message in 0..3 {
        assert!(matcher.has_room(10));
        matcher.hold(7, Some(message), 4, 10, message);
    }
    assert!(!matcher.has_room(0));
    let claimed = matcher.claim(&Wanted::tag(7), 9).map(|early| early.message);
    assert_eq!(claimed, Some(0));
    assert!(!matcher.has_room(0), "it is still held");
    assert!(matcher.take_claimed(8).is_none());
    assert_eq!(matcher.take_claimed(9).map(|early| early.message), Some(0));
    assert!(matcher.has_room(10) && !matcher.has_room(11));
    assert_eq!(
        matcher.take(&Wanted::tag(7)).map(|early| early.message),
        Some(1)
    );
    assert_eq!(post(&mut matcher, 1, wanted(0, !0, Some(2))), Some(2));
    assert!(matcher.has_room(30) && !matcher.has_room(31));
    assert!(matcher.of_tag.is_empty() && matcher.of_source.is_empty());
    // SAFETY: the head is alive.
    assert!(unsafe { matcher.all.list(0).is_empty() });
}

#[test]
fn memory_does_not_grow_with_the_tags_that_were_used() {
    const MANY: u64 = 10_000;
    let mut matcher = Tagged::new((usize::MAX, usize::MAX));
    for tag in 0..MANY {
        assert_eq!(post(&mut matcher, tag + MANY, Wanted::tag(!tag)), None);
        assert_eq!(post(&mut matcher, tag, wanted(tag, 0, Some(1))), None);
        assert_eq!(arrive(&mut matcher, tag, Some(1)), Some(tag));
        assert_eq!(matcher.receives.all().count(), 1, "the other one is sorted");
        assert_eq!(arrive(&mut matcher, !tag, Some(1)), Some(tag + MANY));
        matcher.hold(tag, Some(1), 8, 8, tag as u32);
        assert_eq!(post(&mut matcher, tag, Wanted::tag(tag)), Some(tag as u32));
    }
    assert!(matcher.exact.all().len() == 16 && matcher.of_tag.all().len() == 16);
    assert!(matcher.receives.capacity() == 16 && matcher.early.capacity() == 16);
    assert!(matcher.receives.all().count() == 0 && matcher.early.all().count() == 0);
    assert!(matcher.queue.is_empty() && matcher.special == 0);
}

#[test]
fn lists_stay_short_whatever_the_tags() {
    const MANY: u64 = 4000;
    for shift in [0, 20, 52] {
        let mut matcher = Tagged::new((usize::MAX, usize::MAX));
        for number in 0..MANY {
            let (tag, source) = (number << shift, number as PeerIndex);
            assert_eq!(post(&mut matcher, 0, wanted(tag, 0, Some(source))), None);
            matcher.hold(!tag, Some(source), 8, 8, number as u32);
            // Of one tag, from many.
            assert_eq!(post(&mut matcher, 0, wanted(1, 0, Some(source))), None);
            matcher.hold(3 << 62 | 1, Some(source), 8, 8, number as u32);
        }
        assert_eq!(arrive(&mut matcher, 2 << 62, None), None, "all are sorted");
        assert_eq!(matcher.receives.all().count() as u64, 2 * MANY);
        let longest = |lists: &Buckets, count: &dyn Fn(List) -> usize| {
            lists.all().into_iter().map(count).max()
        };
        // SAFETY: the lists are those of receives.
        let receives = |list| unsafe { matcher.receives.in_order(POSTED, list) }.count();
        // SAFETY: the lists are those of early messages by tag and source.
        let early = |list| unsafe { matcher.early.in_order(OF_SOURCE, list) }.count();
        assert!(longest(&matcher.exact, &receives) < Some(25));
        assert!(longest(&matcher.of_source, &early) < Some(25));
    }
}

#[test]
fn special_is_what_goes_before_the_first_receive() {
    let mut matcher = Tagged::new((100, 9));
    assert_eq!(post(&mut matcher, 1, Wanted::tag(5)), None);
    assert!(!matcher.has_special());
    matcher.note_waiting();
    assert!(matcher.has_special(), "a matched message waits");
    matcher.note_delivered();
    assert!(!matcher.has_special());
    assert_eq!(arrive(&mut matcher, 6, None), None);
    assert!(matcher.has_special(), "a receive is sorted");
    matcher.hold(6, None, 4, 10, 1);
    assert_eq!(found(&mut matcher, 5, None, 8), Some(1));
    assert!(matcher.has_special(), "a sender may get its number");
    assert!(matcher.name(|_| Some(2)).is_empty() && !matcher.has_special());
    assert_eq!(post(&mut matcher, 9, Wanted::tag(6)), Some(1));
    assert!(!matcher.has_special());
}

#[test]
fn the_first_receive_is_found_by_few_instructions() {
    let mut matcher = Tagged::new((100, 9));
    assert_eq!(post(&mut matcher, 1, wanted(5, 0, Some(2))), None);
    assert_eq!(post(&mut matcher, 2, Wanted::tag(5)), None);
    for (tag, source, len) in [(4, Some(2), 8), (5, Some(3), 8), (5, None, 8)] {
        assert_eq!(plain(&mut matcher, tag, source, len), None);
    }
    assert_eq!(plain(&mut matcher, 5, Some(2), 9), None, "too long");
    assert_eq!(plain(&mut matcher, 5, Some(2), 8), Some(1));
    assert_eq!(plain(&mut matcher, 5, Some(2), 8), Some(2));
    assert_eq!(plain(&mut matcher, 5, Some(2), 8), None);
    // Others stay first, but are not found.
    assert_eq!(post(&mut matcher, 3, wanted(0, !0, None)), None);
    assert_eq!(post(&mut matcher, 4, Wanted::tag(5)), None);
    assert_eq!(plain(&mut matcher, 5, None, 8), None, "behind a mask");
    assert_eq!(found(&mut matcher, 5, None, 8), None);
    assert_eq!(arrive(&mut matcher, 5, None), Some(3));
    assert_eq!(plain(&mut matcher, 5, None, 8), Some(4));
    assert!(matcher.post_apart(receive(5, 8, Wanted::tag(5))).is_none());
    assert_eq!(plain(&mut matcher, 5, None, 8), None, "apart");
    assert_eq!(found(&mut matcher, 5, None, 8), None);
    assert_eq!(arrive(&mut matcher, 5, None), Some(5));
}

#[test]
fn receives_are_sorted_once() {
    const MANY: u64 = 300;
    let mut matcher = Tagged::new((100, 9));
    // More than the queue has memory for, and past its end.
    for round in 0..5 {
        for tag in 0..MANY {
            assert_eq!(post(&mut matcher, tag, Wanted::tag(tag)), None);
        }
        // Half of them in their order, the others from the last one on.
        for tag in 0..MANY / 2 {
            assert_eq!(found(&mut matcher, tag, Some(1), 8), Some(tag));
            assert_eq!(matcher.special, 0, "none is sorted in round {round}");
        }
        for (many, tag) in (MANY / 2..MANY).rev().enumerate() {
            assert_eq!(found(&mut matcher, tag, Some(1), 9), None, "too long");
            assert_eq!(found(&mut matcher, tag, Some(1), 8), Some(tag));
            assert_eq!(matcher.special as u64, MANY / 2 - 1 - many as u64);
        }
        assert_eq!(matcher.sorted, (round + 1) * (MANY / 2 - 1));
    }
}

/// A call, with tags, masks, sources and contexts of few kinds.
#[derive(Clone, Debug)]
enum Call {
    Post(Wanted, u64),
    Arrive {
        tag: u64,
        sender: u32,
    },
    Peek(Wanted),
    Claim(Wanted, u64),
    Discard(Wanted),
    TakeClaimed(u64),
    Cancel(u64),
    /// A sender gets a number.
    Name(u32),
}

fn calls() -> impl Strategy<Value = Call> {
    let ignore = prop_oneof![3 => Just(0), 1 => Just(1), 1 => Just(6), 1 => Just(!0)];
    let source = prop_oneof![Just(None), (0..3_u32).prop_map(Some)];
    let wanted = (0..4_u64, ignore, source).prop_map(|(tag, ignore, source)| Wanted {
        tag,
        ignore,
        source,
    });
    let context = 0..3_u64;
    prop_oneof![
        6 => (wanted.clone(), context.clone()).prop_map(|(one, context)| Call::Post(one, context)),
        6 => (0..4_u64, 0..3_u32).prop_map(|(tag, sender)| Call::Arrive { tag, sender }),
        1 => wanted.clone().prop_map(Call::Peek),
        1 => (wanted.clone(), context.clone()).prop_map(|(one, context)| Call::Claim(one, context)),
        1 => wanted.prop_map(Call::Discard),
        1 => context.clone().prop_map(Call::TakeClaimed),
        1 => context.prop_map(Call::Cancel),
        1 => (0..3_u32).prop_map(Call::Name),
    ]
}

/// A message of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    tag: u64,
    sender: u32,
    source: Option<PeerIndex>,
    number: usize,
}

/// Takes the first receive where few instructions find it; returns its context.
fn plain<M>(
    matcher: &mut Tagged<M>,
    tag: u64,
    source: Option<PeerIndex>,
    len: usize,
) -> Option<u64> {
    let first = matcher.first_plain(tag, &Source::from(source), len)?;
    let context = *first.context();
    assert_eq!(first.take().addr(), 4096 * context as usize);
    Some(context)
}

/// Does as [`plain`] also where something is special.
fn found<M>(
    matcher: &mut Tagged<M>,
    tag: u64,
    source: Option<PeerIndex>,
    len: usize,
) -> Option<u64> {
    let found = matcher.find_plain(tag, source.into(), len)?;
    let context = *found.context();
    assert_eq!(found.take().addr(), 4096 * context as usize);
    Some(context)
}

/// Finds the receive for a message, and takes it: by few instructions at first, if `ways` is 2; by
/// more if it is 1; and by those for all messages. Each has to find the same as the next one.
fn received<M>(
    matcher: &mut Tagged<M>,
    tag: u64,
    source: Option<PeerIndex>,
    ways: usize,
) -> Option<u64> {
    let mut context = None;
    if ways > 1 && !matcher.has_special() {
        context = plain(matcher, tag, source, 8);
    }
    if ways > 0 && context.is_none() {
        context = found(matcher, tag, source, 8);
    }
    context.or_else(|| arrive(matcher, tag, source))
}

/// Looks through lists, as fi_tagged(3) tells it.
#[derive(Default)]
struct Model {
    receives: Vec<(Wanted, u64)>,
    early: Vec<Sent>,
    claimed: Vec<(u64, Sent)>,
}

impl Model {
    fn takes(wanted: &Wanted, sent: &Sent) -> bool {
        let is_of = wanted
            .source
            .is_none_or(|source| sent.source == Some(source));
        is_of && wanted.tag & !wanted.ignore == sent.tag & !wanted.ignore
    }

    fn find(&self, wanted: &Wanted) -> Option<usize> {
        self.early.iter().position(|sent| Self::takes(wanted, sent))
    }

    fn arrive(&mut self, sent: &Sent) -> Option<u64> {
        let mut receives = self.receives.iter();
        let at = receives.position(|(wanted, _)| Self::takes(wanted, sent))?;
        Some(self.receives.remove(at).1)
    }

    fn name(&mut self, sender: u32) -> Vec<(usize, u64)> {
        let mut matched = Vec::new();
        for at in 0..self.early.len() {
            if self.early[at].sender == sender && self.early[at].source.is_none() {
                self.early[at].source = Some(sender);
                let sent = self.early[at];
                if let Some(context) = self.arrive(&sent) {
                    matched.push((sent.number, context));
                }
            }
        }
        self.early
            .retain(|sent| !matched.iter().any(|(number, _)| *number == sent.number));
        matched
    }
}

/// The model and the matcher, whose messages are those of the model.
struct Both {
    model: Model,
    matcher: Tagged<Sent>,
    names: [Option<PeerIndex>; 3],
    sent: usize,
}

impl Both {
    fn call(&mut self, call: &Call) -> Result<(), TestCaseError> {
        let Self { model, matcher, .. } = self;
        let number = |early: &Early<Sent>| early.message.number;
        match call {
            Call::Post(wanted, context) => {
                let receive = receive(*context, 8, *wanted);
                let early = if matcher.post_plain(&receive) {
                    None
                } else {
                    matcher.post(receive)
                };
                let at = model.find(wanted);
                let expected = at.map(|at| model.early.remove(at).number);
                prop_assert_eq!(early.as_ref().map(number), expected);
                if expected.is_none() {
                    model.receives.push((*wanted, *context));
                }
            }
            &Call::Arrive { tag, sender } => {
                let source = self.names[sender as usize];
                let (sent, number) = (self.sent, self.sent);
                self.sent = sent + 1;
                let sent = Sent {
                    tag,
                    sender,
                    source,
                    number,
                };
                let context = received(matcher, tag, source, number % 3);
                let expected = model.arrive(&sent);
                prop_assert_eq!(context, expected);
                if expected.is_none() {
                    matcher.hold(tag, source, 8, 8, sent);
                    model.early.push(sent);
                }
            }
            Call::Peek(wanted) => {
                let expected = model.find(wanted).map(|at| model.early[at].number);
                prop_assert_eq!(matcher.peek(wanted).map(number), expected);
            }
            Call::Claim(wanted, context) => {
                let at = model.find(wanted);
                let sent = at.map(|at| model.early.remove(at));
                model.claimed.extend(sent.map(|sent| (*context, sent)));
                let claimed = matcher.claim(wanted, *context).map(number);
                prop_assert_eq!(claimed, sent.map(|sent| sent.number));
            }
            Call::Discard(wanted) => {
                let at = model.find(wanted);
                let expected = at.map(|at| model.early.remove(at).number);
                prop_assert_eq!(matcher.take(wanted).as_ref().map(number), expected);
            }
            Call::TakeClaimed(context) => {
                let at = model.claimed.iter().position(|(own, _)| own == context);
                let expected = at.map(|at| model.claimed.remove(at).1.number);
                let taken = matcher.take_claimed(*context);
                prop_assert_eq!(taken.as_ref().map(number), expected);
            }
            Call::Cancel(context) => {
                let at = model.receives.iter().position(|(_, own)| own == context);
                let expected = at.map(|at| model.receives.remove(at).0);
                let taken = matcher.cancel(*context).map(|receive| receive.wanted);
                prop_assert_eq!(taken, expected);
            }
            &Call::Name(sender) => {
                self.names[sender as usize] = Some(sender);
                let named = |sent: &Sent| (sent.sender == sender).then_some(sender);
                let matched = matcher.name(named).into_iter();
                let matched: Vec<_> = matched
                    .map(|(early, place)| (number(&early), place.context))
                    .collect();
                prop_assert_eq!(matched, model.name(sender));
            }
        }
        self.check()
    }

    /// Checks the state that both tell.
    fn check(&self) -> Result<(), TestCaseError> {
        let Self { model, matcher, .. } = self;
        // SAFETY: the list is that of all early messages.
        let all = unsafe { matcher.early.in_order(ALL, matcher.all.list(0)) };
        let all = all.map(|(_, early)| early.message.number);
        prop_assert!(all.eq(model.early.iter().map(|sent| sent.number)));
        let receives = matcher.receives.all().count();
        let sorted = receives + matcher.masked.len();
        prop_assert_eq!(sorted + matcher.queue.len(), model.receives.len());
        prop_assert_eq!(matcher.waiting, model.early.len());
        prop_assert_eq!(matcher.held, 8 * (model.early.len() + model.claimed.len()));
        let is_any = model.early.iter().any(|sent| sent.source.is_none());
        prop_assert_eq!(matcher.has_nameless(), is_any);
        prop_assert_eq!(matcher.special, sorted + matcher.nameless);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_calls_do_as_a_look_through_lists(calls in prop::collection::vec(calls(), 1..120)) {
        let mut both = Both {
            model: Model::default(),
            matcher: Tagged::new((usize::MAX, usize::MAX)),
            names: [None; 3],
            sent: 0,
        };
        for call in &calls {
            both.call(call)?;
        }
    }
}
