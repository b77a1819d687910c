/**
 * The algorithm of window.ts as scripts for Redis or Valkey 6.2 and later. A window is a hash that maps slots to
 * amounts. Its field `u` is the total, and `o` a lower bound for the oldest slot. Leases are a sorted set of ids,
 * ordered by expiry in milliseconds.
 */
import { LEASE_MS, SLOT_MS, WINDOW_MS } from './counters.ts';

/** ARGV[1] is the time in milliseconds, or empty to use the server's time. */
const NOW = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local slot = math.floor(now / ${SLOT_MS})
local expired = slot - ${WINDOW_MS / SLOT_MS + 1}
local function leaves(at) return (at + ${WINDOW_MS / SLOT_MS + 1}) * ${SLOT_MS} - now end
`;

/**
 * Drops slots that have left the window. Only whole slots leave the window, so all slots need to be read at most once
 * per slot length.
 */
const WINDOW = `
local function slots(key)
  local found, list = redis.call('HGETALL', key), {}
  for i = 1, #found, 2 do
    local at = tonumber(found[i])
    if at then list[#list + 1] = { at, tonumber(found[i + 1]) } end
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end
local function tidy(key)
  local used, oldest, left = 0, nil, {}
  for _, pair in ipairs(slots(key)) do
    if pair[1] <= expired or pair[2] == 0 then
      redis.call('HDEL', key, pair[1])
    else
      used = used + pair[2]
      oldest = oldest or pair[1]
    end
  end
  if oldest then redis.call('HSET', key, 'u', used, 'o', oldest) else redis.call('DEL', key) end
  return used, oldest
end
local function read(key)
  local stored = redis.call('HMGET', key, 'u', 'o')
  if not stored[1] then return 0, nil end
  local used, oldest = tonumber(stored[1]), tonumber(stored[2])
  if oldest <= expired then return tidy(key) end
  return used, oldest
end
local function add(key, at, amount)
  local used, oldest = read(key)
  redis.call('HINCRBY', key, at, amount)
  if not oldest or at < oldest then oldest = at end
  used = used + amount
  redis.call('HSET', key, 'u', used, 'o', oldest)
  redis.call('PEXPIRE', key, ${WINDOW_MS + SLOT_MS})
  return used, oldest
end
`;

/**
 * KEYS: the lease set if a lease is requested, then the windows. ARGV: time; id of the lease, or empty; maximum number
 * of leases; then amount and limit of each window. If granted, returns 1, slot, then total and reset time of each
 * window. If refused, returns 0, the exceeded limit (-1 for the lease, else the index of the window), current value,
 * limit, wait, then total and reset time of each window.
 */
export const TAKE = `${NOW}${WINDOW}
local id, first, over, current, limit, wait = ARGV[2], 1, nil, 0, 0, 0
if id ~= '' then
  first = 2
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  local held = redis.call('ZCARD', KEYS[1])
  if held >= tonumber(ARGV[3]) then over, current, limit, wait = -1, held, tonumber(ARGV[3]), 1000 end
end
local states, windows = {}, {}
for i = first, #KEYS do
  local n = i - first
  local used, oldest = read(KEYS[i])
  windows[n] = { used = used, oldest = oldest, amount = tonumber(ARGV[4 + 2 * n]), limit = tonumber(ARGV[5 + 2 * n]) }
  if not over and windows[n].amount > 0 and used + windows[n].amount > windows[n].limit then
    over, current, limit = n, used, windows[n].limit
  end
end
for i = first, #KEYS do
  local window = windows[i - first]
  if not over and window.amount > 0 then
    window.used, window.oldest = add(KEYS[i], slot, window.amount)
  elseif over and over >= 0 and window.amount > 0 and window.used + window.amount > window.limit then
    local needed = ${WINDOW_MS}
    if window.amount <= window.limit then
      local used = window.used
      for _, pair in ipairs(slots(KEYS[i])) do
        used = used - pair[2]
        if used + window.amount <= window.limit then needed = leaves(pair[1]) break end
      end
    end
    wait = math.max(wait, needed)
  end
  states[#states + 1] = window.used
  states[#states + 1] = window.oldest and leaves(window.oldest) or 0
end
if over then return { 0, over, current, limit, wait, unpack(states) } end
if id ~= '' then
  redis.call('ZADD', KEYS[1], now + ${LEASE_MS}, id)
  redis.call('PEXPIRE', KEYS[1], ${LEASE_MS})
end
return { 1, slot, unpack(states) }
`;

/** KEYS: a window. ARGV: time, slot, change. */
export const SETTLE = `${NOW}${WINDOW}
local at, change = tonumber(ARGV[2]), tonumber(ARGV[3])
if at <= expired then return end
read(KEYS[1])
local before = tonumber(redis.call('HGET', KEYS[1], at) or 0)
change = math.max(change, -before)
if change == 0 then return end
add(KEYS[1], at, change)
if before + change == 0 then tidy(KEYS[1]) end
`;

/** KEYS: lease sets. ARGV: time, then the lease id for each key. Expired leases are not revived. */
export const RENEW = `${NOW}
for i = 1, #KEYS do
  if redis.call('ZSCORE', KEYS[i], ARGV[i + 1]) then
    redis.call('ZADD', KEYS[i], now + ${LEASE_MS}, ARGV[i + 1])
    redis.call('PEXPIRE', KEYS[i], ${LEASE_MS})
  end
end
`;
