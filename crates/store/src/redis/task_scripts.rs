//! The scripts that write tasks.
//!
//! A task consists of a record, which clients read again and again, and of a hash with the data
//! that only a replica needs that continues the task: the call and its journal, which may be large.

/// Creates a task, whose number in the list is the time in microseconds. The keys are its name, its
/// owner's list and its hash. The arguments are the record, how long to keep it in milliseconds (or
/// nothing), the most tasks of the owner, and the id; the size up to which tasks are small, the
/// most bytes of all tasks of the owner, and the prefixes of the names of their records and hashes;
/// the call (or nothing) and the journal.
pub(super) const CREATE: &str = r"
if redis.call('EXISTS', KEYS[1]) == 1 then return 'taken' end
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then return 'full' end
local bytes = #ARGV[1] + #ARGV[9] + #ARGV[10]
if bytes > tonumber(ARGV[5]) then
  for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    bytes = bytes + redis.call('STRLEN', ARGV[7] .. id)
    bytes = bytes + redis.call('HSTRLEN', ARGV[8] .. id, 'call')
    bytes = bytes + redis.call('HSTRLEN', ARGV[8] .. id, 'journal')
  end
  if bytes > tonumber(ARGV[6]) then return 'large' end
end
local listed = redis.call('PTTL', KEYS[2])
local time = redis.call('TIME')
local number = time[1] * 1000000 + time[2]
local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if last[2] and tonumber(last[2]) >= number then number = tonumber(last[2]) + 1 end
redis.call('ZADD', KEYS[2], string.format('%.0f', number), ARGV[4])
if ARGV[9] ~= '' then redis.call('HSET', KEYS[3], 'call', ARGV[9], 'journal', ARGV[10]) end
if ARGV[2] == '' then
  redis.call('SET', KEYS[1], ARGV[1])
  redis.call('PERSIST', KEYS[2])
else
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  redis.call('PEXPIRE', KEYS[3], ARGV[2])
  if listed ~= -1 and listed < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
end
return 'begun'
";

/// Changes a task if it is still unchanged. The keys are its name, its owner's list and its hash.
/// The arguments are the old and the new record, the channel (or nothing) and the id; the size up
/// to which tasks are small, the most bytes of all tasks of the owner, and the prefixes of the
/// names of their records and hashes; what happens with the hash (`keep`, `write` or `drop`), and
/// the call and the journal, each of which stays unchanged if it is empty.
pub(super) const CHANGE: &str = r"
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local now, was = #ARGV[2], #ARGV[1]
for place, field in pairs({ [10] = 'call', [11] = 'journal' }) do
  if ARGV[place] ~= '' then
    now = now + #ARGV[place]
    was = was + redis.call('HSTRLEN', KEYS[3], field)
  end
end
if ARGV[9] == 'drop' then
  was = was + redis.call('HSTRLEN', KEYS[3], 'call') + redis.call('HSTRLEN', KEYS[3], 'journal')
end
if now > was and now > tonumber(ARGV[5]) then
  local bytes = now - was
  for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    bytes = bytes + redis.call('STRLEN', ARGV[7] .. id)
    bytes = bytes + redis.call('HSTRLEN', ARGV[8] .. id, 'call')
    bytes = bytes + redis.call('HSTRLEN', ARGV[8] .. id, 'journal')
  end
  if bytes > tonumber(ARGV[6]) then return 2 end
end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
if ARGV[9] == 'drop' then redis.call('DEL', KEYS[3]) end
if ARGV[9] == 'write' then
  if ARGV[10] ~= '' then redis.call('HSET', KEYS[3], 'call', ARGV[10]) end
  if ARGV[11] ~= '' then redis.call('HSET', KEYS[3], 'journal', ARGV[11]) end
  local left = redis.call('PTTL', KEYS[1])
  if left > 0 then redis.call('PEXPIRE', KEYS[3], left) end
end
if ARGV[3] ~= '' then redis.call('PUBLISH', ARGV[3], ARGV[4]) end
return 1
";
