#!/bin/sh
# Sets up an isolated network: loopback, and a default route over an interface whose other end is not read. Every
# packet that tries to leave the network is counted on `out0`. The name server is 127.0.0.1. This script runs as root in
# its own network and mount namespaces. At the end, it is replaced by the program in its arguments.
set -eu
folder=$1
# Some systems have `ip` in these folders, which only root has in PATH.
PATH=$PATH:/usr/sbin:/sbin
shift

ip link set lo up
ip link add out0 type veth peer name out1
for name in out0 out1; do
  # Disables the kernel's own packets (neighbours, routers, multicast groups), which would be counted too.
  echo 1 > "/proc/sys/net/ipv6/conf/$name/addr_gen_mode" 2> /dev/null || true
  ip link set "$name" arp off multicast off
done
ip link set out1 up
ip link set out0 up
# IP addresses reserved for documentation, so that sockets have a source address.
ip address add 192.0.2.1/32 dev lo
ip route add default dev out0 src 192.0.2.1
if [ -e /proc/net/if_inet6 ]; then
  ip -6 address add 2001:db8::1/128 dev lo
  ip -6 route add default dev out0
fi

printf 'nameserver 127.0.0.1\noptions timeout:2 attempts:1\n' > "$folder/resolv.conf"
printf 'hosts: files dns\n' > "$folder/nsswitch.conf"
mount --bind "$folder/resolv.conf" /etc/resolv.conf
[ ! -e /etc/nsswitch.conf ] || mount --bind "$folder/nsswitch.conf" /etc/nsswitch.conf
# Programs without HOME look up the home directory here.
printf 'root:x:0:0:root:%s:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n' "$HOME" > "$folder/passwd"
mount --bind "$folder/passwd" /etc/passwd
# Hides the machine's name services, which would respond over sockets outside of this network.
for place in /run/nscd /run/systemd/resolve /run/dbus; do
  [ ! -d "$place" ] || mount -t tmpfs none "$place"
done
exec "$@"
