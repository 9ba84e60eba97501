# Makes the tables of tests/perf/run. Lines: JOB ROUND ROW NANOSECONDS, separated by tabs.
# A time is the median over the rounds, a ratio the median of the rounds' ratios.

{ time[$1, $3, $2] = $4; if ($2 > rounds) rounds = $2 }
$1 == "teams 2" && $3 !~ /^put_signal/ && !($3 in place) { place[$3] = ++places; row_at[places] = $3 }

function sorted_middle(values, count,    i, j, value) {
    for (i = 2; i <= count; i++) {
        value = values[i]
        for (j = i - 1; j > 0 && values[j] > value; j--) values[j + 1] = values[j]
        values[j + 1] = value
    }
    return values[int((count + 1) / 2)]
}

function middle(job, row,    round, values) {
    for (round = 1; round <= rounds; round++) values[round] = time[job, row, round]
    return sorted_middle(values, rounds)
}

function ratio(job, row, other_job, other_row,    round, values) {
    for (round = 1; round <= rounds; round++) values[round] = time[job, row, round] / time[other_job, other_row, round]
    return sorted_middle(values, rounds)
}

function ns(value) { return value >= 1000 ? sprintf("%.2f us", value / 1000) : sprintf("%.2f ns", value) }

function is_kept(value, target) {
    if (target ~ /^at most/) return value <= substr(target, 9) + 0 ? "yes" : "NO"
    return value >= substr(target, 10) + 0 ? "yes" : "NO"
}

function line(what, mine, other, other_name, value, target) {
    printf "| %s | %s | %s: %s | %.2f | %s | %s |\n", what, ns(mine), other_name, ns(other), value, target, \
        target == "-" ? "" : is_kept(value, target)
}

function bare(row, other, is_speed, target) {
    line(row, middle("bare", row), middle("bare", other), other, \
        is_speed ? ratio("bare", other, "bare", row) : ratio("bare", row, "bare", other), target)
}

function beside(row, target) {
    line(row, middle("ours", row), middle("theirs", row), libfabric ? "shm" : "Open MPI", ratio("theirs", row, "ours", row), target)
}

# The row that begins so and has the smallest time.
function best(start,    key, part, found, least) {
    for (key in time) {
        split(key, part, SUBSEP)
        if (part[1] == "bare" && index(part[2], start) == 1 && (!found || middle("bare", part[2]) < least)) {
            found = part[2]
            least = middle("bare", found)
        }
    }
    return substr(found, length(start) + 1)
}

# Bytes in the name of a row.
function bytes_of(row,    part) {
    if (row ~ /doubles?$/) return 8 * (split(row, part, " ") > 4 ? part[3] * (part[4] == "Ki" ? 1024 : 1048576) : 1)
    return split(row, part, " ") == 3 ? part[2] : 0
}

# One collective of `pes` PEs: not slower, with a tolerance of a tenth, and of two PEs twice as fast below 1 KiB.
function collective(row, pes,    target, teams, active) {
    if (!(("theirs " pes, row, 1) in time)) {
        printf "| %s | %s | %s | it ends with an error | | | |\n", row, ns(middle("teams " pes, row)), ns(middle("active " pes, row))
        return
    }
    target = pes == 2 && bytes_of(row) < 1024 ? "at least 2 x its speed" : "at least 0.9 x its speed"
    teams = ratio("theirs " pes, row, "teams " pes, row)
    active = ratio("theirs " pes, row, "active " pes, row)
    printf "| %s | %s | %s | %s | %.2f, %.2f | %s | %s |\n", row, ns(middle("teams " pes, row)), ns(middle("active " pes, row)), \
        ns(middle("theirs " pes, row)), teams, active, target, is_kept(teams < active ? teams : active, target)
}

function tables_of_collectives(    pes, i) {
    for (pes = 2; pes <= 8; pes += 6) {
        printf "\n| %d PEs | team | active set | Open MPI | times as fast: team, active set | target | kept |\n|---|---|---|---|---|---|---|\n", pes
        for (i = 1; i <= places; i++) collective(row_at[i], pes)
    }
}

# One row of PEs that were bound before they started: as fast as those that were not, to a tenth either way.
function bound(row,    value) {
    value = ratio("teams 2", row, "bound 2", row)
    printf "| %s | %s | %s | %.2f | 0.9 to 1.1 | %s |\n", row, ns(middle("bound 2", row)), ns(middle("teams 2", row)), value, \
        (value >= 0.9 && value <= 1.1 ? "yes" : "NO")
}

function table_of_bound() {
    print "\n| 2 PEs | bound by oshrun | by themselves | times as fast | target | kept |\n|---|---|---|---|---|---|"
    bound("barrier_all")
    bound("broadcast 8 B")
    bound("sum of 1 double")
    bound("alltoall 32768 B")
    bound("alltoall 262144 B")
    bound("put_signal 1 MiB")
}

END {
    if (collectives) {
        tables_of_collectives()
        table_of_bound()
        exit
    }
    if (libfabric) {
        print "\n| 8 bytes | time | libfabric's provider | times as fast | target | kept |\n|---|---|---|---|---|---|"
        beside("message there and back", "at least 1 x its speed")
        beside("tagged message there and back", "at least 1 x its speed")
        beside("write, 64 under way", "at least 1 x its speed")
        beside("write, one at a time", "at least 1 x its speed")
        exit
    }
    print "\n| operation | time | against | ratio | target | kept |\n|---|---|---|---|---|---|"
    bare("put 8 B + quiet", "bare store + lock or", 0, "at most 1.5 x its time")
    bare("put 1 MiB", "best copy for put", 1, "at least 0.95 x its speed")
    bare("get 1 MiB", "best copy for get", 1, "at least 0.95 x its speed")
    bare("barrier_all", "bare ping-pong", 0, "at most 3 x its time")
    bare("barrier_all", "bare exchange", 0, "-")
    beside("put 8 B + quiet", "at least 2 x its speed")
    beside("get 8 B", "at least 2 x its speed")
    beside("fetch_add", "at least 2 x its speed")
    beside("put 1 MiB + quiet", "at least 1 x its speed")
    beside("get 1 MiB", "at least 1 x its speed")
    beside("barrier_all", "at least 1 x its speed")
    printf "\nThe best copies were: %s for put, %s for get.\n", \
        best("copy for put: "), best("copy for get: ")
    if (sweep) {
        print "\n| bytes | put + quiet | Open MPI | get | Open MPI | put GB/s | Open MPI | get GB/s | Open MPI |"
        print "|---|---|---|---|---|---|---|---|---|"
        for (bytes = 1; bytes <= 4194304; bytes *= 2) {
            p = middle("ours", "put " bytes); tp = middle("theirs", "put " bytes)
            g = middle("ours", "get " bytes); tg = middle("theirs", "get " bytes)
            printf "| %d | %s | %s | %s | %s | %.2f | %.2f | %.2f | %.2f |\n", bytes, ns(p), ns(tp), ns(g), ns(tg), \
                bytes / p, bytes / tp, bytes / g, bytes / tg
        }
    }
}
