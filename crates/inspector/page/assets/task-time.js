// How long a server keeps a task, in either revision's terms.

/**
 * Milliseconds until the server may drop a task, or null if it sets no limit.
 *
 * @param {Task | null | undefined} task
 * @param {number} now
 */
export function keptFor(task, now = Date.now()) {
  const ttl = task?.ttlMs ?? task?.ttl;
  if (!task || ttl === null || ttl === undefined) return null;
  const since = Date.parse(task.createdAt ?? task.lastUpdatedAt ?? "");
  return Number.isNaN(since) ? null : since + Number(ttl) - now;
}
