/**
 * Scripts of shared values for Redis or Valkey 6.2 and later. A value is a string with an expiry time. Each space has an
 * index: a sorted set of names, ordered by expiry in milliseconds, from which surplus values are removed.
 */

/** Writes a value, and removes the values that expire first if there are too many. */
const PUT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function put(value, keep, most, name)
  redis.call('SET', KEYS[1], value, 'PX', keep)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  redis.call('ZADD', KEYS[2], now + keep, name)
  local surplus = redis.call('ZCARD', KEYS[2]) - most
  if surplus > 0 then
    local popped = redis.call('ZPOPMIN', KEYS[2], surplus)
    for i = 1, #popped, 2 do redis.call('DEL', KEYS[2] .. ':' .. popped[i]) end
  end
end
`;

/** KEYS: value, index. ARGV: new value, time to keep it in ms, maximum number of values, name. */
export const SET = `${PUT}
put(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4])
`;

/** KEYS: value. Returns the server's time in ms, and the value if there is one. */
export const READ = `
local time = redis.call('TIME')
return { time[1] * 1000 + math.floor(time[2] / 1000), redis.call('GET', KEYS[1]) }
`;

/**
 * Like SET, if the value is still the expected one. ARGV: as for SET, then 1 and the expected value, or 0 for none.
 * Returns 1 if the value was written.
 */
export const REPLACE = `${PUT}
local current = redis.call('GET', KEYS[1])
if ARGV[5] == '1' and current ~= ARGV[6] or ARGV[5] == '0' and current then return 0 end
put(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4])
return 1
`;
