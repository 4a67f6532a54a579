/** Tests whether a host is this machine: with any other host, plain http exposes the traffic to reading and changes. */

/**
 * Takes a host as `URL`, a configuration or a request names it. Names below `localhost` do not count, because a
 * resolver answers for them.
 */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '::1' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
