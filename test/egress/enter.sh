#!/bin/sh
# A network of its own, which leads nowhere: loopback, and a default route over an interface whose other end nobody reads.
# Whatever tries to leave is a packet on `out0`. Names are asked of 127.0.0.1. Runs as the root of a network and a mount
# namespace; then becomes the program that is named.
set -eu
folder=$1
# Where `ip` is on systems on which only root has it on the path.
PATH=$PATH:/usr/sbin:/sbin
shift

ip link set lo up
ip link add out0 type veth peer name out1
for name in out0 out1; do
  # The kernel's own packets (neighbours, routers, multicast groups) would be counted too.
  echo 1 > "/proc/sys/net/ipv6/conf/$name/addr_gen_mode" 2> /dev/null || true
  ip link set "$name" arp off multicast off
done
ip link set out1 up
ip link set out0 up
# Addresses of documentation, so that a socket has one to leave from.
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
# Who has no HOME looks it up here.
printf 'root:x:0:0:root:%s:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n' "$HOME" > "$folder/passwd"
mount --bind "$folder/passwd" /etc/passwd
# A name service of the machine would answer over a socket that is no part of the network.
for place in /run/nscd /run/systemd/resolve /run/dbus; do
  [ ! -d "$place" ] || mount -t tmpfs none "$place"
done
exec "$@"
