"""OpenStack Swift with its S3 layer, in one process and with one copy of each object, for the tests.

swift-server.py FOLDER PORT ACCESS_KEY SECRET_KEY

Swift's four servers usually run as processes of their own. Here they share one process, so that a test can kill or
suspend the whole store with one signal. The access key must have the form account:user.
"""
import os
import sys

folder, port, access_key, secret_key = sys.argv[1:5]
account, user = access_key.split(':')

import swift.common.utils as utils  # noqa: E402

# Before the modules that read the file when they are imported.
utils.SWIFT_CONF_FILE = os.path.join(folder, 'swift.conf')
with open(utils.SWIFT_CONF_FILE, 'w') as conf:
    conf.write('[swift-hash]\nswift_hash_path_suffix = test\n[storage-policy:0]\nname = only\ndefault = yes\n')
utils.eventlet_monkey_patch()

import eventlet  # noqa: E402
import eventlet.wsgi  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.wsgi import loadapp, SwiftHttpProtocol  # noqa: E402

DEVICES = os.path.join(folder, 'devices')
os.makedirs(os.path.join(DEVICES, 'disk'), exist_ok=True)

STORAGE = '''[DEFAULT]
swift_dir = {folder}
devices = {devices}
mount_check = false
log_level = ERROR
fallocate_reserve = 0
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
'''

PROXY = '''[DEFAULT]
swift_dir = {folder}
log_level = ERROR
[pipeline:main]
pipeline = catch_errors s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:s3api]
use = egg:swift#s3api
dns_compliant_bucket_names = true
[filter:tempauth]
use = egg:swift#tempauth
user_{account}_{user} = {secret} .admin
[filter:slo]
use = egg:swift#slo
'''


class Cache:
    """Stands in for memcached, which only several proxies of Swift need to share."""

    def __init__(self):
        self.values = {}

    def get(self, key, **_):
        return self.values.get(key)

    def set(self, key, value, **_):
        self.values[key] = value

    def delete(self, key, **_):
        self.values.pop(key, None)

    def incr(self, key, delta=1, **_):
        self.values[key] = self.values.get(key, 0) + delta
        return self.values[key]


def with_cache(app):
    cache = Cache()

    def serve(environment, start_response):
        environment['swift.cache'] = cache
        return app(environment, start_response)

    return serve


def with_conditions(app):
    """While the folder has a file of this name, the disk is full, or every answer takes three seconds."""

    def serve(environment, start_response):
        if os.path.exists(os.path.join(folder, 'slow')):
            eventlet.sleep(3)
        if environment['REQUEST_METHOD'] == 'PUT' and os.path.exists(os.path.join(folder, 'full')):
            start_response('507 Insufficient Storage', [('Content-Length', '0')])
            return [b'']
        return app(environment, start_response)

    return serve


def start(name, text, socket, wrap=lambda app: app):
    path = os.path.join(folder, name + '.conf')
    with open(path, 'w') as conf:
        conf.write(text)
    app = wrap(loadapp(path))
    eventlet.spawn(
        eventlet.wsgi.server, socket, app, log=open(os.devnull, 'w'), log_output=False,
        protocol=SwiftHttpProtocol)


sockets = {kind: eventlet.listen(('127.0.0.1', 0)) for kind in ('account', 'container', 'object')}
for kind, socket in sockets.items():
    # 2^4 partitions, one copy of each.
    ring = RingBuilder(4, 1, 0)
    ring.add_dev({'id': 0, 'region': 1, 'zone': 1, 'weight': 1.0, 'ip': '127.0.0.1',
                  'port': socket.getsockname()[1], 'device': 'disk'})
    ring.rebalance(seed=1)
    ring.get_ring().save(os.path.join(folder, kind + '.ring.gz'))
for kind, socket in sockets.items():
    wrap = with_conditions if kind == 'object' else lambda app: app
    start(kind, STORAGE.format(folder=folder, devices=DEVICES, kind=kind), socket, wrap)
start('proxy', PROXY.format(folder=folder, account=account, user=user, secret=secret_key),
      eventlet.listen(('127.0.0.1', int(port))), with_cache)
while True:
    eventlet.sleep(3600)
