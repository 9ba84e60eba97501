use super::*;
use proptest::prelude::*;

fn options(hosts: &[&str], files: &[&Path]) -> Options {
    Options {
        hosts: hosts.iter().map(|&words| words.to_owned()).collect(),
        host_files: files.iter().map(|&file| file.to_owned()).collect(),
        ..Options::default()
    }
}

fn shown(list: &List) -> String {
    let hosts = list.hosts.iter();
    let hosts = hosts.map(|host| format!("{}:{}", host.name, host.slots));
    hosts.collect::<Vec<_>>().join(" ")
}

fn named(words: &[&str]) -> Result<String, String> {
    match List::find_in(&options(words, &[]), |_| None) {
        Ok(list) => Ok(shown(&list.unwrap())),
        Err(failure) => {
            assert_eq!(failure.status, USAGE);
            Err(failure.message)
        }
    }
}

fn file(text: &str) -> Result<String, String> {
    let path = std::env::temp_dir().join(format!(
        "farreach-test-hosts-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::write(&path, text).unwrap();
    let list = List::find_in(&options(&[], &[&path]), |_| None);
    std::fs::remove_file(&path).unwrap();
    match list {
        Ok(list) => Ok(shown(&list.unwrap())),
        Err(failure) => Err(failure.message),
    }
}

#[test]
fn words_name_hosts() {
    for (words, hosts) in [
        (&["a,b:4"][..], "a:1 b:4"),
        (&["a", "b", "a"], "a:2 b:1"),
        (&["a:2,,b,"], "a:2 b:1"),
        (&["me@h-1.x_y:3"], "me@h-1.x_y:3"),
        (
            &["[fe80::1]:2,::1,10.0.0.1:2"],
            "fe80::1:2 ::1:1 10.0.0.1:2",
        ),
    ] {
        assert_eq!(named(words).unwrap(), hosts, "{words:?}");
    }
    for (words, part) in [
        ("a:0", "from 1 to"),
        ("a:x", "\"x\""),
        ("-oProxyCommand=x", "cannot be a host's name"),
        ("me@-x", "cannot be a host's name"),
        ("a;b", "cannot be a host's name"),
        (":3", "\"\" cannot"),
        ("[a]b", "is no host"),
        (",", "no host is named"),
    ] {
        let message = named(&[words]).unwrap_err();
        assert!(message.contains(part), "{words}: {message}");
    }
}

#[test]
fn files_name_hosts() {
    for (text, hosts) in [
        ("a\nb:4\nc slots=3\n", "a:1 b:4 c:3"),
        ("# all\n\n  a slots=2 max_slots=4 # the first\nb", "a:2 b:1"),
        // PBS's node file: a line for each slot.
        ("n1\nn1\nn2\nn2\nn1\n", "n1:3 n2:2"),
    ] {
        assert_eq!(file(text).unwrap(), hosts, "{text:?}");
    }
    for (text, part) in [
        ("a\nb slot=3\n", "line 2: \"slot=3\" is not understood"),
        ("a slots=x\n", "line 1: the number of slots"),
        ("\n# none\n", "names no host"),
    ] {
        let message = file(text).unwrap_err();
        assert!(message.contains(part), "{text:?}: {message}");
    }
    let missing = options(&[], &[Path::new("/no/such/file")]);
    let message = List::find_in(&missing, |_| None).unwrap_err().message;
    assert!(message.contains("/no/such/file"), "{message}");
}

#[test]
fn allocations_of_several_nodes_are_used() {
    let find = |variables: &[(&str, &str)], options: &Options| {
        let variable = |name: &str| {
            let mut all = variables.iter();
            let found = all.find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        List::find_in(options, variable).unwrap()
    };
    let slurm = [
        ("SLURM_JOB_ID", "7"),
        ("SLURM_JOB_NODELIST", "n[1-3]"),
        ("SLURM_TASKS_PER_NODE", "2(x2),1"),
    ];
    let list = find(&slurm, &options(&[], &[])).unwrap();
    assert_eq!(
        (shown(&list).as_str(), list.source),
        ("n1:2 n2:2 n3:1", Source::Slurm)
    );
    // Names of the user come first.
    let list = find(&slurm, &options(&["a"], &[])).unwrap();
    assert_eq!((shown(&list).as_str(), list.source), ("a:1", Source::Named));
    let mut pretended = options(&[], &[]);
    pretended.per_node = Some(1);
    assert_eq!(find(&slurm, &pretended), None);
    let one = [
        ("SLURM_JOB_ID", "7"),
        ("SLURM_JOB_NODELIST", "n1"),
        ("SLURM_TASKS_PER_NODE", "4"),
    ];
    assert_eq!(find(&one, &options(&[], &[])), None);
    assert_eq!(find(&slurm[1..], &options(&[], &[])), None);
    assert_eq!(find(&[], &options(&[], &[])), None);
}

#[test]
fn lists_of_slurm() {
    let nodes = |text| slurm_nodes(text).map(|names| names.join(" "));
    for (text, names) in [
        ("a", "a"),
        ("a,b-2", "a b-2"),
        ("n[1-3,7],x", "n1 n2 n3 n7 x"),
        ("n[008-011]", "n008 n009 n010 n011"),
        ("r[0-1]n[00-01]-ib", "r0n00-ib r0n01-ib r1n00-ib r1n01-ib"),
    ] {
        assert_eq!(nodes(text).as_deref(), Some(names), "{text}");
    }
    for text in [
        "",
        "a,",
        "n[1-",
        "n]",
        "n[]",
        "n[2-1]",
        "n[a-b]",
        "n[1-99999999]",
        "n[[1]]",
    ] {
        assert_eq!(nodes(text), None, "{text}");
    }
    assert_eq!(slurm_tasks("2(x3),1", 4), Some(vec![2, 2, 2, 1]));
    assert_eq!(slurm_tasks("4", 1), Some(vec![4]));
    for (text, count) in [
        ("2", 2),
        ("2(x3)", 2),
        ("", 1),
        ("0", 1),
        ("2(x", 1),
        ("2(y2)", 2),
    ] {
        assert_eq!(slurm_tasks(text, count), None, "{text}");
    }
}

#[test]
fn pes_fill_hosts_in_blocks() {
    let list = |slots: &[usize]| -> Vec<Host> {
        let hosts = slots.iter().enumerate();
        hosts
            .map(|(number, &slots)| Host {
                name: format!("h{number}"),
                slots,
            })
            .collect()
    };
    assert_eq!(place(&list(&[1, 2]), 3), [0, 1, 1]);
    assert_eq!(place(&list(&[2, 2]), 3), [0, 0, 1]);
    // More PEs than slots go round again.
    assert_eq!(place(&list(&[2, 1]), 7), [0, 0, 1, 0, 0, 1, 0]);
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "[a-c0-9,:()\\[\\]x -]{0,24}", nodes in 0_usize..5) {
        let _ = named(&[&text]);
        let _ = host_line(&text);
        let _ = slurm_tasks(&text, nodes);
        if let Some(names) = slurm_nodes(&text) {
            prop_assert!(names.len() <= MOST_PES);
        }
    }
}
