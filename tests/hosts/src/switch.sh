# The first process of a lab, in namespaces of its own: makes the bridge, starts the hosts, and
# stays. Its end is the end of all processes of the lab.
# Arguments: the number of hosts, the script of a host, and the command that stays.
exec 2>&1
hosts=$1 host=$2 stays=$3

echo sw > /proc/sys/kernel/hostname
for at in /dev/shm /tmp; do mount -t tmpfs -o mode=1777 tmpfs "$at"; done
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/hosts
{
    echo "127.0.0.1 localhost"
    echo "10.77.0.254 sw"
    for i in $(seq "$hosts"); do echo "10.77.0.$i h$i"; done
} > /run/hosts/names
mount --bind /run/hosts/names /etc/hosts

# Runs a program in a host, in the same directory.
cat > /run/hosts/enter << 'END'
#!/bin/sh
host=$1
shift
if test "$host" = sw; then exec "$@"; fi
first=$(cat "/run/hosts/$host") || exit 255
exec nsenter --target "$first" --net --uts --ipc --mount --pid --wdns="$PWD" -- "$@"
END
# Runs words by a shell in a host as rsh(1) does.
cat > /run/hosts/rsh << 'END'
#!/bin/sh
while test "${1-}" = -x || test "${1-}" = -n; do shift; done
host=$1
shift
while test "${1-}" = -x || test "${1-}" = -n; do shift; done
cd /
exec /run/hosts/enter "$host" sh -c "$*"
END
chmod 755 /run/hosts/enter /run/hosts/rsh

ip link set lo up
ip link add br0 type bridge
ip addr add 10.77.0.254/24 dev br0
ip link set br0 up

for i in $(seq "$hosts"); do
    unshare --net --uts --ipc --mount --pid --fork --kill-child --mount-proc \
        sh -euc "$host" host "$i" < /dev/null > "/run/hosts/said.$i" 2>&1 &
    echo $! > "/run/hosts/unshare.$i"
done

# Waits until host $1 has said $2.
await() {
    tries=0
    until grep -qx "$2" "/run/hosts/said.$1"; do
        tries=$((tries + 1))
        if test $tries = 1000 || ! kill -0 "$(cat "/run/hosts/unshare.$1")"; then
            echo "host h$1 does not start: $(cat "/run/hosts/said.$1")"
            exit 1
        fi
        sleep 0.01
    done
}
for i in $(seq "$hosts"); do
    await "$i" ready
    unshare=$(cat "/run/hosts/unshare.$i")
    ip link add "vh$i" type veth peer name eth0 netns "$unshare"
    ip link set "vh$i" master br0 up
    first=$(cat "/proc/$unshare/task/$unshare/children")
    echo "${first% }" > "/run/hosts/h$i"
done
for i in $(seq "$hosts"); do await "$i" up; done

echo up
# Nobody waits for processes whose parents are gone: the kernel takes them, as the signal is ignored.
exec env --ignore-signal=CHLD $stays > /dev/null 2>&1
