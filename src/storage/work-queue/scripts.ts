/**
 * Scripts of the queue of requests for Redis or Valkey 6.2 and later. Each changes the queue atomically.
 *
 * KEYS[1] is the prefix of all keys, whose braces make a cluster store them on one node:
 *   server:ID          exists while the server is running
 *   request:ID         hash: kind, server, payload, at, attempts, worker; expires if nobody works on it
 *   replies:SERVER     list of replies, each the id of the request and its answer
 *   KIND:queue         list of ids of waiting requests, the next one first
 *   KIND:wake          list with an element for each new request, on which idle workers wait
 *   KIND:leases        sorted set of ids of running requests, by the time at which their lease expires
 *   KIND:workers       sorted set of ids of workers, by the time until which they count as running
 */

const COMMON = `
local p = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function requestOf(id) return p .. ':request:' .. id end
local function runs(server) return redis.call('EXISTS', p .. ':server:' .. server) == 1 end
local function wake(kind)
  local list = p .. ':' .. kind .. ':wake'
  redis.call('RPUSH', list, '1')
  redis.call('LTRIM', list, -100, -1)
end
local function reply(server, text, keep)
  local list = p .. ':replies:' .. server
  redis.call('RPUSH', list, text)
  redis.call('PEXPIRE', list, keep)
end
`;

/**
 * Adds a request. ARGV: kind, id, maximum length of the queue, time to keep the request in ms, server, payload, time in
 * ms for which the server counts as running. Without an id, only checks whether a request would be accepted. Returns `ok`, `full` or `no worker`.
 */
export const SUBMIT = `${COMMON}
local kind, id = ARGV[1], ARGV[2]
local queue = p .. ':' .. kind .. ':queue'
if redis.call('ZCOUNT', p .. ':' .. kind .. ':workers', now, '+inf') == 0 then return 'no worker' end
if redis.call('LLEN', queue) >= tonumber(ARGV[3]) then return 'full' end
if id == '' then return 'ok' end
redis.call('SET', p .. ':server:' .. ARGV[5], '1', 'PX', ARGV[7])
redis.call('HSET', requestOf(id), 'kind', kind, 'server', ARGV[5], 'payload', ARGV[6], 'at', now, 'attempts', 0,
  'worker', '')
redis.call('PEXPIRE', requestOf(id), ARGV[4])
redis.call('RPUSH', queue, id)
wake(kind)
return 'ok'
`;

/**
 * Removes a request. ARGV: kind, id, and 1 to remove it only if it is waiting. Returns 1 if it was removed.
 */
export const CANCEL = `${COMMON}
local kind, id = ARGV[1], ARGV[2]
local waited = redis.call('LREM', p .. ':' .. kind .. ':queue', 1, id)
if ARGV[3] == '1' and waited == 0 then return 0 end
redis.call('DEL', requestOf(id))
redis.call('ZREM', p .. ':' .. kind .. ':leases', id)
return 1
`;

/**
 * Takes the next request whose server is running. ARGV: kind, worker, duration of the lease in ms, time to keep the
 * request in ms. Returns its id, its payload and how long it waited in ms; nil if there is none.
 */
export const TAKE = `${COMMON}
local kind = ARGV[1]
while true do
  local id = redis.call('LPOP', p .. ':' .. kind .. ':queue')
  if not id then return false end
  local found = redis.call('HMGET', requestOf(id), 'server', 'payload', 'at')
  if found[1] and runs(found[1]) then
    redis.call('HSET', requestOf(id), 'worker', ARGV[2])
    redis.call('PEXPIRE', requestOf(id), ARGV[4])
    redis.call('ZADD', p .. ':' .. kind .. ':leases', now + ARGV[3], id)
    return { id, found[2], now - found[3] }
  end
  redis.call('DEL', requestOf(id))
end
`;

/**
 * Says that a worker is running and renews the leases of its requests. ARGV: worker, duration of a lease in ms, time to
 * keep requests in ms, 1 if the worker takes new requests, number of kinds, the kinds, the ids. Returns the ids of
 * requests that have been cancelled, whose server has ended, or that another worker has.
 */
export const RENEW = `${COMMON}
local worker, kinds = ARGV[1], tonumber(ARGV[5])
for at = 6, 5 + kinds do
  local workers = p .. ':' .. ARGV[at] .. ':workers'
  if ARGV[4] == '1' then redis.call('ZADD', workers, now + ARGV[2], worker) else redis.call('ZREM', workers, worker) end
  redis.call('ZREMRANGEBYSCORE', workers, '-inf', now)
end
local lost = {}
for at = 6 + kinds, #ARGV do
  local id = ARGV[at]
  local found = redis.call('HMGET', requestOf(id), 'worker', 'server', 'kind')
  if found[1] == worker and runs(found[2]) then
    redis.call('PEXPIRE', requestOf(id), ARGV[3])
    redis.call('ZADD', p .. ':' .. found[3] .. ':leases', now + ARGV[2], id)
  else
    lost[#lost + 1] = id
  end
end
return lost
`;

/**
 * Sends the answer to the server. ARGV: id, worker, the id with the answer, time to keep the answer in ms. Returns 0 if
 * the worker no longer has the request.
 */
export const REPLY = `${COMMON}
local id = ARGV[1]
local found = redis.call('HMGET', requestOf(id), 'worker', 'server', 'kind')
if found[1] ~= ARGV[2] then return 0 end
redis.call('DEL', requestOf(id))
redis.call('ZREM', p .. ':' .. found[3] .. ':leases', id)
reply(found[2], ARGV[3], ARGV[4])
return 1
`;

/** Returns a request to the front of the queue, for another worker. ARGV: id, worker. */
export const GIVE_BACK = `${COMMON}
local id = ARGV[1]
local found = redis.call('HMGET', requestOf(id), 'worker', 'kind')
if found[1] ~= ARGV[2] then return 0 end
redis.call('HSET', requestOf(id), 'worker', '')
redis.call('ZREM', p .. ':' .. found[2] .. ':leases', id)
redis.call('LPUSH', p .. ':' .. found[2] .. ':queue', id)
wake(found[2])
return 1
`;

/**
 * Looks after the requests of a server. ARGV: server, time in ms for which it counts as running, time to keep requests
 * in ms, time to keep answers in ms, number of kinds, the kinds, the ids of its requests. Requests whose lease has
 * expired return to the queue the first time, and fail the second time with an answer `l`. Returns the ids of this
 * server's requests that no longer exist.
 */
export const WATCH = `${COMMON}
local kinds = tonumber(ARGV[5])
redis.call('SET', p .. ':server:' .. ARGV[1], '1', 'PX', ARGV[2])
for at = 6, 5 + kinds do
  local kind = ARGV[at]
  local leases = p .. ':' .. kind .. ':leases'
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now, 'LIMIT', 0, 100)) do
    redis.call('ZREM', leases, id)
    local found = redis.call('HMGET', requestOf(id), 'server', 'attempts')
    if found[1] and tonumber(found[2]) > 0 then
      redis.call('DEL', requestOf(id))
      reply(found[1], id .. 'l', ARGV[4])
    elseif found[1] then
      redis.call('HSET', requestOf(id), 'worker', '', 'attempts', 1)
      redis.call('PEXPIRE', requestOf(id), ARGV[3])
      redis.call('LPUSH', p .. ':' .. kind .. ':queue', id)
      wake(kind)
    end
  end
end
local gone = {}
for at = 6 + kinds, #ARGV do
  if redis.call('EXISTS', requestOf(ARGV[at])) == 0 then gone[#gone + 1] = ARGV[at] end
end
return gone
`;

/** Ends a server. ARGV: server. Workers drop its requests. */
export const LEAVE = `${COMMON}
redis.call('DEL', p .. ':server:' .. ARGV[1], p .. ':replies:' .. ARGV[1])
return 1
`;

/** ARGV: kinds. Returns three numbers for each: waiting requests, running requests, workers. */
export const COUNTS = `${COMMON}
local counts = {}
for _, kind in ipairs(ARGV) do
  local of = p .. ':' .. kind
  counts[#counts + 1] = redis.call('LLEN', of .. ':queue')
  counts[#counts + 1] = redis.call('ZCARD', of .. ':leases')
  counts[#counts + 1] = redis.call('ZCOUNT', of .. ':workers', now, '+inf')
end
return counts
`;
