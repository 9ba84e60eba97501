use super::*;
use std::fmt::Write as _;
use std::process::Command;

/// Constants by their names in C.
const CONSTANTS: &[(&str, i64)] = &[
    ("PMIX_MAX_NSLEN + 1", NSPACE as i64),
    ("PMIX_MAX_KEYLEN + 1", KEY as i64),
    ("(pmix_rank_t)(PMIX_RANK_WILDCARD)", RANK_WILDCARD as i64),
    ("PMIX_GLOBAL", GLOBAL as i64),
    ("PMIX_BOOL", BOOL as i64),
    ("PMIX_STRING", STRING as i64),
    ("PMIX_INT", INT as i64),
    ("PMIX_UINT32", UINT32 as i64),
    ("PMIX_BYTE_OBJECT", BYTE_OBJECT as i64),
    ("PMIX_SUCCESS", SUCCESS as i64),
    ("PMIX_ERR_UNREACH", ERR_UNREACH as i64),
    ("PMIX_ERR_NOT_FOUND", ERR_NOT_FOUND as i64),
    ("PMIX_ERR_COMM_FAILURE", ERR_COMM_FAILURE as i64),
    ("PMIX_ERR_LOST_CONNECTION", ERR_LOST_CONNECTION as i64),
    ("PMIX_ERR_PARTIAL_SUCCESS", ERR_PARTIAL_SUCCESS as i64),
    ("PMIX_EVENT_ACTION_COMPLETE", EVENT_ACTION_COMPLETE as i64),
    ("sizeof(pmix_rank_t)", 4),
    ("sizeof(pmix_scope_t)", 1),
    ("sizeof(pmix_status_t)", 4),
    ("sizeof(pmix_data_type_t)", 2),
    ("sizeof(((pmix_value_t *)0)->data)", 24),
];

/// Strings by their names in C.
const STRINGS: &[(&str, &str)] = &[
    ("PMIX_JOB_SIZE", JOB_SIZE),
    ("PMIX_NODEID", NODEID),
    ("PMIX_HOSTNAME", HOSTNAME),
    ("PMIX_LOCAL_PEERS", LOCAL_PEERS),
    ("PMIX_COLLECT_DATA", COLLECT_DATA),
    ("PMIX_IMMEDIATE", IMMEDIATE),
    ("PMIX_TIMEOUT", TIMEOUT),
];

/// The functions, each of which the header declares with another pointer to it.
const FUNCTIONS: &str = "
pmix_status_t (*init)(pmix_proc_t *, pmix_info_t *, size_t) = PMIx_Init;
pmix_status_t (*finalize)(const pmix_info_t *, size_t) = PMIx_Finalize;
pmix_status_t (*abort_all)(int, const char *, pmix_proc_t *, size_t) = PMIx_Abort;
pmix_status_t (*put)(pmix_scope_t, const char *, pmix_value_t *) = PMIx_Put;
pmix_status_t (*commit)(void) = PMIx_Commit;
pmix_status_t (*fence)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t) = PMIx_Fence;
pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t,
                     pmix_value_t **) = PMIx_Get;
const char *(*error_string)(pmix_status_t) = PMIx_Error_string;
void handler(size_t, pmix_status_t, const pmix_proc_t *, pmix_info_t *, size_t, pmix_info_t *,
             size_t, void (*)(pmix_status_t, pmix_info_t *, size_t,
                              void (*)(pmix_status_t, void *), void *, void *), void *);
pmix_notification_fn_t notified = handler;
pmix_status_t (*register_handler)(pmix_status_t *, size_t, pmix_info_t *, size_t,
                                  pmix_notification_fn_t, pmix_hdlr_reg_cbfunc_t, void *) =
    PMIx_Register_event_handler;
";

#[test]
fn numbers_are_those_of_the_header() {
    let folders = std::fs::read_dir("/usr/lib").expect("/usr/lib");
    let found = folders
        .flatten()
        .map(|folder| folder.path().join("pmix2/include"))
        .find(|folder| folder.join("pmix.h").exists());
    let include = found.expect("pmix.h (Debian: libpmix-dev)");

    let mut text = String::from("#include <stddef.h>\n#include <pmix.h>\n");
    text.push_str(FUNCTIONS);
    for (expression, value) in NUMBERS.iter().chain(CONSTANTS) {
        let _ = writeln!(
            text,
            "_Static_assert({expression} == {value}LL, \"{expression}\");"
        );
    }
    // The sizes are compared first: they have the end of the string.
    for (number, (name, value)) in STRINGS.iter().enumerate() {
        let _ = writeln!(
            text,
            "char is_{number}[] = {name}; _Static_assert(sizeof {name} == sizeof \"{value}\" && \
             __builtin_memcmp({name}, \"{value}\", sizeof {name}) == 0, \"{name}\");"
        );
    }
    let name = format!("farreach-pmix-{}.c", std::process::id());
    let source = std::env::temp_dir().join(name);
    std::fs::write(&source, text).expect("a file");
    let said = Command::new("cc")
        .args(["-fsyntax-only", "-Wall", "-Werror", "-I"])
        .arg(include)
        .arg(&source)
        .output();
    std::fs::remove_file(&source).expect("the file");
    let said = said.expect("cc runs");
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{errors}");
}
